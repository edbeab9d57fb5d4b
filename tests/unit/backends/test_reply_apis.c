/* Replies of the APIs beside completions and chat: events of /v1/responses, chunks of transcriptions, whole replies of
 * pooling requests.  Texts as recorded from vLLM-like servers with vllm bench serve 0.33.0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/backend.h"

static const char *const result_names[] = {"TOKEN", "OTHER", "ERROR", "BAD"};

struct row {
    const char *name; /* of the SSE event */
    const char *data;
    enum scan_result result;
    const char *text; /* of a token, or the error's message (raw) */
    bool done;
    bool reasoning;
};

static void check_rows(const char *backend, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        struct reply_event event;
        enum scan_result result =
            backend_find(backend)->scan(sv_from(row->name), sv_from(row->data), &event);
        if (result != row->result)
            fail_msg("'%s': got %s, wanted %s", row->data, result_names[result],
                     result_names[row->result]);
        if (result == SCAN_BAD)
            continue;
        struct sv text = result == SCAN_ERROR ? event.error : event.text;
        if (!sv_eq(text, sv_from(row->text)))
            fail_msg("'%s': got '" SV_FMT "', wanted '%s'", row->data, SV_ARG(text), row->text);
        if (event.done != row->done || event.reasoning != row->reasoning)
            fail_msg("'%s': done %d, reasoning %d", row->data, event.done, event.reasoning);
    }
}

#define CHECK_ROWS(backend, rows) check_rows(backend, rows, sizeof(rows) / sizeof((rows)[0]))

static void check_counts(const char *backend, const char *data, int64_t prompt, int64_t completion,
                         int64_t cached)
{
    struct reply_event event;
    enum scan_result result = backend_find(backend)->scan(sv_make("", 0), sv_from(data), &event);
    if (result != SCAN_OTHER || event.prompt_tokens != prompt ||
        event.completion_tokens != completion || event.cached_tokens != cached)
        fail_msg("'%s': got %s %lld %lld %lld", data, result_names[result],
                 (long long)event.prompt_tokens, (long long)event.completion_tokens,
                 (long long)event.cached_tokens);
}

#define RESPONSE(status)                                                                           \
    "\"response\":{\"id\":\"resp_mock000000\",\"object\":\"response\",\"created_at\":1700000000,"  \
    "\"model\":\"mock-model\",\"status\":\"" status "\",\"output\":[],\"error\":null,"             \
    "\"usage\":null}"

static void two_kinds_of_delta_are_tokens_of_a_response(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"response.created",
         "{\"type\":\"response.created\",\"sequence_number\":0," RESPONSE("in_progress") "}",
         SCAN_OTHER, "", false, false},
        {"response.in_progress",
         "{\"type\":\"response.in_progress\",\"sequence_number\":1," RESPONSE("in_progress") "}",
         SCAN_OTHER, "", false, false},
        {"response.output_item.added",
         "{\"type\":\"response.output_item.added\",\"sequence_number\":2,\"output_index\":0,"
         "\"item\":{\"id\":\"msg_mock\",\"type\":\"message\",\"role\":\"assistant\"}}",
         SCAN_OTHER, "", false, false},
        {"response.output_text.delta",
         "{\"type\":\"response.output_text.delta\",\"sequence_number\":3,\"item_id\":\"msg_mock\","
         "\"output_index\":0,\"content_index\":0,\"delta\":\" alp\\u0068a\"}",
         SCAN_TOKEN, " alp\\u0068a", false, false},
        {"response.reasoning_text.delta",
         "{\"type\":\"response.reasoning_text.delta\",\"sequence_number\":4,\"delta\":\"hm\"}",
         SCAN_TOKEN, "", false, true},
        {"", "{\"delta\":\"\",\"type\":\"response.output_text.delta\"}", SCAN_TOKEN, "", false,
         false},
        {"", "{\"delta\":\"x\",\"typ\\u0065\":\"response.output_text.delta\"}", SCAN_TOKEN, "x",
         false, false},
        {"response.output_text.delta", "{\"delta\":\"only the line names it\"}", SCAN_TOKEN,
         "only the line names it", false, false},
        {"response.output_text.delta", "{\"type\":\"response.output_text.done\",\"text\":\"all\"}",
         SCAN_OTHER, "", false, false},
        {"", "{\"type\":\"response.output_text.delta\",\"delta\":{\"x\":1}}", SCAN_TOKEN, "", false,
         false},
        {"", "{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}", SCAN_OTHER,
         "", false, false},
        {"", "{\"type\":\"response.content_part.done\",\"part\":{\"type\":\"output_text\"}}",
         SCAN_OTHER, "", false, false},
        {"", "[DONE]", SCAN_OTHER, "", false, false},
        {"", "  ", SCAN_OTHER, "", false, false},
        {"", "[1]", SCAN_OTHER, "", false, false},
    };
    CHECK_ROWS("openai-responses", rows);
}

static void a_response_ends_with_a_terminal_event(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"response.completed",
         "{\"type\":\"response.completed\",\"sequence_number\":9," RESPONSE("completed") "}",
         SCAN_OTHER, "", true, false},
        {"response.incomplete",
         "{\"response\":{\"id\":\"r1\",\"status\":\"incomplete\",\"incomplete_details\":{"
         "\"reason\":\"max_output_tokens\"}},\"type\":\"response.incomplete\"}",
         SCAN_OTHER, "", true, false},
        {"response.failed",
         "{\"response\":{\"id\":\"r1\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\","
         "\"message\":\"died (mock)\"}},\"type\":\"response.failed\"}",
         SCAN_ERROR, "died (mock)", false, false},
        {"", "{\"type\":\"response.failed\",\"response\":{\"error\":null}}", SCAN_ERROR,
         "{\"type\":\"response.failed\",\"response\":{\"error\":null}}", false, false},
        {"error", "{\"type\":\"error\",\"code\":\"x\",\"message\":\"boom\",\"param\":null}",
         SCAN_ERROR, "boom", false, false},
        {"error", "{\"error\":{\"message\":\"inner\"},\"message\":\"outer\"}", SCAN_ERROR, "inner",
         false, false},
        {"", "{\"type\":\"response.output_text.delta\",\"delta\":\"a\",\"error\":\"e\"}",
         SCAN_ERROR, "e", false, false},
        {"", "{\"type\":\"response.output_text.delta\",\"delta\":\"a\",\"error\":{}}", SCAN_TOKEN,
         "a", false, false},
        {"", "{\"type\":\"response.in_progress\",\"response\":{\"error\":{\"message\":\"m\"}}}",
         SCAN_OTHER, "", false, false},
        {"error", "{\"type\":\"BadRequestError\",\"message\":\"m\",\"code\":400}", SCAN_ERROR, "m",
         false, false},
        {"", "{\"object\":\"error\",\"type\":\"BadRequestError\",\"message\":\"m\"}", SCAN_ERROR,
         "m", false, false},
        {"error", "words", SCAN_ERROR, "words", false, false},
        {"error", "", SCAN_ERROR, "error", false, false},
        {"", "{\"type\":\"response.completed\"", SCAN_BAD, "", false, false},
        {"response.completed", "{\"type\":\"response.completed\"}}", SCAN_BAD, "", false, false},
        {"", "words", SCAN_BAD, "", false, false},
    };
    CHECK_ROWS("openai-responses", rows);
}

static void usage_of_a_response_stands_in_its_object(void **state)
{
    (void)state;
    check_counts(
        "openai-responses",
        "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":"
        "{\"input_tokens\":27,\"output_tokens\":6,\"total_tokens\":33,"
        "\"input_tokens_details\":{\"cached_tokens\":16},"
        "\"output_tokens_details\":{\"reasoning_tokens\":3}}}}",
        27, 6, 16);
    check_counts("openai-responses", "{\"type\":\"x\",\"usage\":{\"prompt_tokens\":3}}", 3, -1, -1);
    check_counts("openai-responses",
                 "{\"type\":\"response.created\",\"response\":{\"usage\":null}}", -1, -1, -1);
}

static void every_chunk_with_a_choice_is_a_token_of_a_transcription(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"",
         "{\"id\":\"x\",\"object\":\"transcription.chunk\",\"choices\":[{\"index\":0,\"delta\":{"
         "\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":{\"prompt_tokens\":15,"
         "\"completion_tokens\":0}}",
         SCAN_TOKEN, "", false, false},
        {"", "{\"choices\":[{\"delta\":{\"content\":\" hello\"}}]}", SCAN_TOKEN, " hello", false,
         false},
        {"", "{\"choices\":[{\"delta\":{}}]}", SCAN_TOKEN, "", false, false},
        {"", "{\"choices\":[],\"usage\":{\"prompt_tokens\":15}}", SCAN_OTHER, "", false, false},
        {"", "[DONE]", SCAN_OTHER, "", true, false},
        {"", "{\"error\":{\"message\":\"too long\"}}", SCAN_ERROR, "too long", false, false},
        {"", "{\"choices\":[{\"delta\"", SCAN_BAD, "", false, false},
    };
    CHECK_ROWS("openai-audio", rows);
    check_counts("openai-audio",
                 "{\"choices\":[],\"usage\":{\"prompt_tokens\":15,\"completion_tokens\":6}}", -1, 6,
                 -1);
}

static const char *const pooling[] = {
    "openai-embeddings",   "openai-embeddings-chat",    "openai-embeddings-clip",
    "vllm-rerank",         "openai-embeddings-vlm2vec", "vllm-pooling",
    "infinity-embeddings", "infinity-embeddings-clip",
};

enum { POOLING_COUNT = sizeof(pooling) / sizeof(pooling[0]) };

static void a_pooling_reply_is_json_without_an_error(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"",
         "{\"id\":\"embd-mock\",\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":"
         "0,"
         "\"embedding\":[0.0,-1.25e-3]}],\"model\":\"m\",\"usage\":{\"prompt_tokens\":24}}",
         SCAN_OTHER, "", false, false},
        {"", "\n[{\"index\":0,\"score\":0.9}]\n", SCAN_OTHER, "", false, false},
        {"", "{\"results\":[],\"message\":\"ok\"}", SCAN_OTHER, "", false, false},
        {"", "{\"embeddings\":[[1]],\"detail\":\"fine\"}", SCAN_OTHER, "", false, false},
        {"", "{\"data\":[],\"error\":null}", SCAN_OTHER, "", false, false},
        {"", "{\"error\":{\"message\":\"no pooling model (mock)\"}}", SCAN_ERROR,
         "no pooling model (mock)", false, false},
        {"", "{\"object\":\"error\",\"message\":\"m\",\"data\":null}", SCAN_ERROR, "m", false,
         false},
        {"", "{\"message\":\"m\"}", SCAN_ERROR, "m", false, false},
        {"", "{\"detail\":\"Not Found\"}", SCAN_ERROR, "Not Found", false, false},
        {"", "{\"error\":\"x\",\"data\":[]}", SCAN_ERROR, "x", false, false},
        {"", "", SCAN_BAD, "", false, false},
        {"", "<html>", SCAN_BAD, "", false, false},
        {"", "{\"data\":[{\"embedding\":[0.1,", SCAN_BAD, "", false, false},
        {"", "{\"data\":[NaN]}", SCAN_BAD, "", false, false},
    };
    for (size_t i = 0; i < POOLING_COUNT; i++) {
        CHECK_ROWS(pooling[i], rows);
        assert_true(backend_find(pooling[i])->pooling);
        assert_false(backend_find(pooling[i])->streams);
    }
}

static void usage_of_a_pooling_reply_may_be_a_total_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < POOLING_COUNT; i++) {
        check_counts(pooling[i],
                     "{\"data\":[],\"usage\":{\"prompt_tokens\":24,\"total_tokens\":25,"
                     "\"completion_tokens\":0,\"prompt_tokens_details\":{\"cached_tokens\":8}}}",
                     24, 0, 8);
        check_counts(pooling[i], "{\"results\":[],\"usage\":{\"total_tokens\":11}}", 11, -1, -1);
        check_counts(pooling[i], "{\"results\":[],\"usage\":null}", -1, -1, -1);
        check_counts(pooling[i], "{\"results\":[]}", -1, -1, -1);
    }
}

static void only_responses_must_say_that_they_are_over(void **state)
{
    (void)state;
    for (size_t i = 0; backend_at(i) != NULL; i++)
        assert_int_equal(backend_at(i)->needs_terminal,
                         strcmp(backend_at(i)->name, "openai-responses") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_kinds_of_delta_are_tokens_of_a_response),
        cmocka_unit_test(a_response_ends_with_a_terminal_event),
        cmocka_unit_test(usage_of_a_response_stands_in_its_object),
        cmocka_unit_test(every_chunk_with_a_choice_is_a_token_of_a_transcription),
        cmocka_unit_test(a_pooling_reply_is_json_without_an_error),
        cmocka_unit_test(usage_of_a_pooling_reply_may_be_a_total_alone),
        cmocka_unit_test(only_responses_must_say_that_they_are_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What an event of a stream says: token or not, text, counts, errors. */
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
        struct sv text = result == SCAN_ERROR ? event.error : event.text;
        if (result != SCAN_BAD && !sv_eq(text, sv_from(row->text)))
            fail_msg("'%s': got '" SV_FMT "', wanted '%s'", row->data, SV_ARG(text), row->text);
        assert_int_equal(event.done, strstr(row->data, "[DONE]") != NULL && result == SCAN_OTHER);
    }
}

#define CHECK_ROWS(backend, rows) check_rows(backend, rows, sizeof(rows) / sizeof((rows)[0]))

static void completions_chunks_with_a_choice_are_tokens(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"",
         "{\"id\":\"c0\",\"object\":\"text_completion\",\"created\":1,\"model\":\"mock-model\","
         "\"choices\":[{\"index\":0,\"text\":\"Hello\",\"logprobs\":null,\"finish_reason\":null}]}",
         SCAN_TOKEN, "Hello"},
        {"", " { \"choices\" : [ { \"text\" : \" a \\n\\\"\\u00e9\" } ] } ", SCAN_TOKEN,
         " a \\n\\\"\\u00e9"},
        {"", "{\"choices\":[{\"text\":\"\"}]}", SCAN_TOKEN, ""},
        {"", "{\"choices\":[{\"text\":null,\"index\":1}]}", SCAN_TOKEN, ""},
        {"", "{\"choices\":[{}]}", SCAN_TOKEN, ""},
        {"", "{\"choices\":[{\"text\":\"a\"},{\"text\":\"b\"}]}", SCAN_TOKEN, "a"},
        {"", "{\"choices\":[{\"logprobs\":{\"text\":\"no\",\"tokens\":[\"x\"]},\"text\":\"a\"}]}",
         SCAN_TOKEN, "a"},
        {"", "{\"choices\":[{\"text\":\"a\",\"text\":\"b\"}]}", SCAN_TOKEN, "b"},
        {"", "{\"choices\":[],\"choices\":[{\"text\":\"b\"}]}", SCAN_TOKEN, "b"},
        {"", "{\"choices\":[{\"text\":\"b\"}],\"choices\":[]}", SCAN_OTHER, ""},
        {"", "{\"choi\\u0063es\":[{\"te\\u0078t\":\"b\"}]}", SCAN_TOKEN, "b"},
        {"", "{\"error\":null,\"choices\":[{\"text\":\"b\"}]}", SCAN_TOKEN, "b"},
        {"message", "{\"choices\":[{\"text\":\"b\"}]}", SCAN_TOKEN, "b"},
        {"", "{\"choices\":[]}", SCAN_OTHER, ""},
        {"", "{\"choices\":null}", SCAN_OTHER, ""},
        {"", "{\"object\":\"chunk\"}", SCAN_OTHER, ""},
        {"", "{\"x\":{\"choices\":[{\"text\":\"b\"}]}}", SCAN_OTHER, ""},
        {"", "{}", SCAN_OTHER, ""},
        {"", "[DONE]", SCAN_OTHER, ""},
        {"", " [DONE]\t", SCAN_OTHER, ""},
        {"", "", SCAN_OTHER, ""},
        {"", "[1,2]", SCAN_OTHER, ""},
    };
    CHECK_ROWS("openai", rows);
    CHECK_ROWS("vllm", rows);
}

#define DELTA(members)                                                                             \
    "{\"choices\":[{\"index\":0,\"delta\":{" members "},\"finish_reason\":null}]}"

static void chat_deltas_with_something_in_them_are_tokens(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", DELTA("\"role\":\"assistant\",\"content\":\"\""), SCAN_OTHER, ""},
        {"", DELTA("\"content\":\"\",\"role\":null"), SCAN_OTHER, ""},
        {"", DELTA("\"role\":\"assistant\",\"content\":null"), SCAN_OTHER, ""},
        {"", DELTA("\"role\":\"assistant\""), SCAN_OTHER, ""},
        {"", DELTA("\"role\":\"assistant\",\"content\":\"A\""), SCAN_TOKEN, "A"},
        {"", DELTA("\"content\":\"A\""), SCAN_TOKEN, "A"},
        {"", DELTA("\"content\":\"\\ud83d\\ude42\""), SCAN_TOKEN, "\\ud83d\\ude42"},
        {"", DELTA("\"content\":\"\""), SCAN_TOKEN, ""},
        {"", DELTA("\"content\":null"), SCAN_OTHER, ""},
        {"", DELTA(""), SCAN_OTHER, ""},
        {"", DELTA("\"reasoning\":\"Hm\""), SCAN_TOKEN, ""},
        {"", DELTA("\"reasoning_content\":\"Hm\",\"content\":null"), SCAN_TOKEN, ""},
        {"", DELTA("\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"Hm\""), SCAN_TOKEN, ""},
        {"", DELTA("\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"\""), SCAN_OTHER, ""},
        {"", DELTA("\"reasoning\":null"), SCAN_OTHER, ""},
        {"", DELTA("\"tool_calls\":[{\"index\":0}]"), SCAN_TOKEN, ""},
        {"", DELTA("\"tool_calls\":[ ]"), SCAN_OTHER, ""},
        {"", DELTA("\"tool_calls\":null"), SCAN_OTHER, ""},
        {"", DELTA("\"function_call\":{\"name\":\"f\"}"), SCAN_TOKEN, ""},
        {"", DELTA("\"function_call\":{}"), SCAN_OTHER, ""},
        {"", DELTA("\"content\":\"a\",\"content\":\"\""), SCAN_TOKEN, ""},
        {"", DELTA("\"content\":\"a\",\"content\":null"), SCAN_OTHER, ""},
        {"", "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"X\"}}]}", SCAN_TOKEN, "X"},
        {"", "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"delta\":{}}]}", SCAN_OTHER, ""},
        {"", "{\"choices\":[{\"delta\":{}},{\"delta\":{\"content\":\"b\"}}]}", SCAN_OTHER, ""},
        {"", "{\"choices\":[{\"delta\":null}]}", SCAN_OTHER, ""},
        {"", "{\"choices\":[{\"message\":{\"content\":\"whole\"}}]}", SCAN_OTHER, ""},
        {"", "{\"choices\":[null]}", SCAN_OTHER, ""},
        {"", "{\"choices\":[]}", SCAN_OTHER, ""},
        {"", "[DONE]", SCAN_OTHER, ""},
    };
    CHECK_ROWS("openai-chat", rows);
}

static void only_reasoning_is_told_apart_from_an_answer(void **state)
{
    (void)state;
    const struct backend *chat = backend_find("openai-chat");
    struct reply_event event;
    struct sv none = {0};
    chat->scan(none, SV_LIT(DELTA("\"reasoning\":\"r\"")), &event);
    assert_true(event.reasoning);
    chat->scan(none, SV_LIT(DELTA("\"reasoning_content\":\"r\",\"content\":\"\"")), &event);
    assert_true(event.reasoning);
    chat->scan(none, SV_LIT(DELTA("\"reasoning\":\"r\",\"content\":\"c\"")), &event);
    assert_false(event.reasoning);
    chat->scan(none, SV_LIT(DELTA("\"content\":\"\"")), &event);
    assert_false(event.reasoning);
    chat->scan(none, SV_LIT(DELTA("\"tool_calls\":[1]")), &event);
    assert_false(event.reasoning);
}

static void errors_carry_the_servers_message(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", "{\"error\":{\"message\":\"mock \\\"x\\\"\",\"code\":500}}", SCAN_ERROR,
         "mock \\\"x\\\""},
        {"", "{\"error\":{\"code\":500}}", SCAN_ERROR, "{\"code\":500}"},
        {"", "{\"error\": {\"message\":null , \"a\":1} }", SCAN_ERROR,
         "{\"message\":null , \"a\":1}"},
        {"", "{\"error\":\"boom\"}", SCAN_ERROR, "boom"},
        {"", "{\"error\":[\"x\"]}", SCAN_ERROR, "[\"x\"]"},
        {"", "{\"error\":true}", SCAN_ERROR, "true"},
        {"", "{\"error\":1}", SCAN_ERROR, "1"},
        {"", "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"error\":{\"message\":\"m\"}}",
         SCAN_ERROR, "m"},
        {"", "{\"object\":\"error\",\"message\":\"too long\",\"code\":400}", SCAN_ERROR,
         "too long"},
        {"error", "{\"message\":\"boom (mock)\"}", SCAN_ERROR, "boom (mock)"},
        {"error", "{\"error\":{\"message\":\"inner\"},\"message\":\"outer\"}", SCAN_ERROR, "inner"},
        {"error", "{\"code\":1}", SCAN_ERROR, "{\"code\":1}"},
        {"error", "plain words", SCAN_ERROR, "plain words"},
        {"error", "", SCAN_ERROR, "event: error"},
        {"error", "{\"broken", SCAN_ERROR, "{\"broken"},
        {"", "{\"error\":{}}", SCAN_OTHER, ""},
        {"", "{\"error\":[ ]}", SCAN_OTHER, ""},
        {"", "{\"error\":\"\"}", SCAN_OTHER, ""},
        {"", "{\"error\":false}", SCAN_OTHER, ""},
        {"", "{\"error\":-0.0e5}", SCAN_OTHER, ""},
        {"", "{\"error\":{\"message\":\"m\"},\"error\":null}", SCAN_OTHER, ""},
        {"", "{\"message\":\"no error\"}", SCAN_OTHER, ""},
        {"errors", "{\"message\":\"m\"}", SCAN_OTHER, ""},
    };
    CHECK_ROWS("openai", rows);
    CHECK_ROWS("openai-chat", rows);
    struct reply_event event;
    struct sv none = {0};
    backend_find("openai")->scan(none, SV_LIT("{\"error\":\"a\\nb\"}"), &event);
    assert_true(event.error_is_raw_string);
    backend_find("openai")->scan(none, SV_LIT("{\"error\":{\"a\":1}}"), &event);
    assert_false(event.error_is_raw_string);
}

static void text_that_is_not_json_is_bad(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{",
        "{\"choices\":[{\"text\":\"a\"}]",
        "{\"choices\":[{\"text\":\"a\"}]} x",
        "{\"choices\":[{\"text\":\"a\"}]}{}",
        "{\"choices\":[{\"text\":\"a\",}]}",
        "{\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":01}}",
        "{\"choices\":[{\"text\":\"a\nb\"}]}",
        "{\"choices\":[{\"text\":\"\\x\"}]}",
        "{choices:[]}",
        "{\"id\":tru}",
        "[DONE",
        "DONE",
        "[DONE]]",
        "hello",
        "<html>",
        "{\"error\":{\"message\":\"m\"}",
        "{\"usage\":{\"prompt_tokens\":NaN}}",
        "{\"a\":1,}",
    };
    static const char *const names[] = {"openai", "openai-chat"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t k = 0; k < 2; k++) {
            struct reply_event event;
            struct sv none = {0};
            if (backend_find(names[k])->scan(none, sv_from(texts[i]), &event) != SCAN_BAD)
                fail_msg("'%s' was taken for JSON", texts[i]);
        }
    }
}

static void check_counts(const char *data, int64_t prompt, int64_t completion, int64_t cached)
{
    static const char *const names[] = {"openai", "openai-chat"};
    for (size_t k = 0; k < 2; k++) {
        struct reply_event event;
        struct sv none = {0};
        enum scan_result result = backend_find(names[k])->scan(none, sv_from(data), &event);
        if (result == SCAN_BAD || result == SCAN_ERROR || event.prompt_tokens != prompt ||
            event.completion_tokens != completion || event.cached_tokens != cached)
            fail_msg("'%s': got %s %lld %lld %lld", data, result_names[result],
                     (long long)event.prompt_tokens, (long long)event.completion_tokens,
                     (long long)event.cached_tokens);
    }
}

static void usage_is_read_wherever_it_stands(void **state)
{
    (void)state;
    check_counts("{\"choices\":[],\"usage\":{\"prompt_tokens\":24,\"completion_tokens\":2}}", 24, 2,
                 -1);
    check_counts("{\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":24},\"choices\":[{\"text\":"
                 "\"a\"}]}",
                 24, 2, -1);
    check_counts("{\"usage\":{\"prompt_tokens\":24,\"completion_tokens\":0,\"total_tokens\":24,"
                 "\"prompt_tokens_details\":{\"cached_tokens\":16,\"audio_tokens\":0},"
                 "\"completion_tokens_details\":{\"cached_tokens\":9}}}",
                 24, 0, 16);
    check_counts("{\"usage\":{\"prompt_tokens\":3,\"prompt_tokens_details\":null}}", 3, -1, -1);
    check_counts("{\"usage\":null}", -1, -1, -1);
    check_counts("{\"usage\":{\"prompt_tokens\":null,\"completion_tokens\":\"7\"}}", -1, -1, -1);
    check_counts("{\"usage\":{\"prompt_tokens\":-4,\"completion_tokens\":2.5}}", -1, -1, -1);
    check_counts("{\"usage\":{\"prompt_tokens\":99999999999999999999}}", -1, -1, -1);
    /* 2^40 and more are no counts of one request: sums over many would run over */
    check_counts(
        "{\"usage\":{\"prompt_tokens\":1099511627775,\"completion_tokens\":1099511627776}}",
        1099511627775, -1, -1);
    check_counts("{\"usage\":{\"prompt_tokens\":9223372036854775807,"
                 "\"prompt_tokens_details\":{\"cached_tokens\":9007199254740993}}}",
                 -1, -1, -1);
    check_counts("{\"usage\":{\"prompt_tokens\":1},\"usage\":{\"completion_tokens\":2}}", -1, 2,
                 -1);
    check_counts("{\"usage\":[1]}", -1, -1, -1);
    check_counts("{\"choices\":[{\"usage\":{\"prompt_tokens\":1}}]}", -1, -1, -1);
    check_counts("[DONE]", -1, -1, -1);
}

static void reasoning_tokens_are_read_by_either_name(void **state)
{
    (void)state;
    static const struct {
        const char *backend;
        const char *data;
        int64_t reasoning;
    } rows[] = {
        {"openai-chat",
         "{\"usage\":{\"completion_tokens\":9,\"completion_tokens_details\":"
         "{\"reasoning_tokens\":7,\"audio_tokens\":0}}}",
         7},
        {"openai-chat", "{\"usage\":{\"completion_tokens_details\":null}}", -1},
        {"openai-chat", "{\"usage\":{\"prompt_tokens_details\":{\"reasoning_tokens\":7}}}", -1},
        {"openai-chat", "{\"choices\":[]}", -1},
        {"openai-responses",
         "{\"type\":\"response.completed\",\"response\":{\"usage\":"
         "{\"output_tokens\":6,\"output_tokens_details\":{\"reasoning_tokens\":3}}}}",
         3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reply_event event;
        backend_find(rows[i].backend)->scan(sv_make("", 0), sv_from(rows[i].data), &event);
        assert_int_equal(event.reasoning_tokens, rows[i].reasoning);
    }
}

static void server_metrics_are_read(void **state)
{
    (void)state;
    struct reply_event event;
    struct sv none = {0};
    backend_find("openai-chat")
        ->scan(none,
               SV_LIT("{\"choices\":[],\"metrics\":{\"queue_time_ms\":1.5,\"x\":[1],"
                      "\"time_to_first_token_ms\":3}}"),
               &event);
    assert_true(event.server_queue_ms == 1.5);
    assert_true(event.server_ttft_ms == 3.0);
    backend_find("openai")->scan(
        none, SV_LIT("{\"choices\":[{\"text\":\"\"}],\"metrics\":{\"queue_time_ms\":null}}"),
        &event);
    assert_true(isnan(event.server_queue_ms));
    assert_true(isnan(event.server_ttft_ms));
    backend_find("openai")->scan(
        none, SV_LIT("{\"metrics\":{\"queue_time_ms\":-1e999,\"time_to_first_token_ms\":1e999}}"),
        &event);
    assert_true(isnan(event.server_queue_ms));
    assert_true(isnan(event.server_ttft_ms));
    backend_find("openai")->scan(none, SV_LIT("{\"metrics\":null}"), &event);
    assert_true(isnan(event.server_queue_ms));
}

static void check_plain(const char *body, enum scan_result wanted, const char *message)
{
    static const char *const names[] = {"openai", "openai-chat"};
    for (size_t k = 0; k < 2; k++) {
        struct reply_event event;
        enum scan_result result = backend_scan_plain(backend_find(names[k]), sv_from(body), &event);
        if (result != wanted)
            fail_msg("'%s': got %s", body, result_names[result]);
        if (wanted == SCAN_ERROR && !sv_eq(event.error, sv_from(message)))
            fail_msg("'%s': got '" SV_FMT "'", body, SV_ARG(event.error));
    }
}

static void a_reply_that_is_no_stream_has_no_token(void **state)
{
    (void)state;
    check_plain(
        "{\"error\":{\"message\":\"upstream unavailable (mock)\",\"type\":\"server_error\"}}",
        SCAN_ERROR, "upstream unavailable (mock)");
    check_plain("\n{\"object\":\"error\",\"message\":\"m\"}\n", SCAN_ERROR, "m");
    check_plain("{\"detail\":\"Not Found\"}", SCAN_ERROR, "Not Found");
    check_plain("{\"message\":\"m\",\"status\":1}", SCAN_ERROR, "m");
    check_plain("{\"choices\":[{\"text\":\"whole\",\"message\":{\"content\":\"whole\"}}],"
                "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}",
                SCAN_OTHER, "");
    check_plain("{\"message\":\"m\",\"choices\":[]}", SCAN_OTHER, "");
    check_plain("[]", SCAN_OTHER, "");
    check_plain("", SCAN_OTHER, "");
    check_plain("<html>x</html>", SCAN_BAD, "");
    check_plain("{\"error\":{\"message\":\"cut", SCAN_BAD, "");
}

static void check_text(const char *body, const char *text)
{
    struct buf out = {0};
    buf_add_str(&out, "> ");
    backend_error_text(sv_from(body), &out);
    assert_string_equal(buf_cstr(&out) + 2, text);
    buf_done(&out);
}

static void error_bodies_give_readable_text(void **state)
{
    (void)state;
    check_text("{\"error\":{\"message\":\"rate limited (mock)\",\"code\":429}}",
               "rate limited (mock)");
    check_text("{\"object\":\"error\",\"message\":\"maximum context length is 4096 tokens, you "
               "requested 4122 (mock)\",\"type\":\"BadRequestError\",\"code\":400}",
               "maximum context length is 4096 tokens, you requested 4122 (mock)");
    check_text("{\"error\":\"model \\\"x\\\" not found\"}", "model \"x\" not found");
    check_text("{\"detail\":\"Not Found\"}", "Not Found");
    check_text("{\"detail\":[{\"loc\":[\"body\",\"model\"],\"msg\":\"field required\"},{\"msg\":"
               "\"b\"},{\"x\":1}]}",
               "body.model: field required; b; {\"x\":1}");
    check_text("{\"status\":404,\"error\":\"Not Found\",\"message\":\"no handler\"}", "no handler");
    check_text("[{\"error\":{\"message\":\"in a list\"}}]", "in a list");
    check_text("{\"error\":{\"message\":\"\"},\"detail\":\"d\"}", "d");
    check_text("\"just a string\"", "just a string");
    check_text("{\"code\": 5,\n \"x\": []}", "{\"code\": 5, \"x\": []}");
    check_text("{\"error\":{\"message\":\"cut", "{\"error\":{\"message\":\"cut");
    check_text("<html><body>Bad Gateway (mock)</body></html>", "Bad Gateway (mock)");
    check_text(
        "<html>\n<head><title>502</title><style>b{a:1}</style><SCRIPT>x<y</SCRIPT></head>\r\n"
        "<body>\n<h1>Bad</h1>\n Gateway</body>",
        "502 Bad Gateway");
    check_text("<unclosed", "");
    check_text("  upstream\r\n\tdied \x01 ", "upstream died");
    check_text("", "");
}

static void long_error_bodies_are_cut_between_characters(void **state)
{
    (void)state;
    struct buf body = {0};
    struct buf out = {0};
    for (size_t i = 0; i < 400; i++)
        buf_add_str(&body, "\xc3\xa9");
    backend_error_text(buf_sv(&body), &out);
    /* 497 bytes are left beside the dots, and 248 whole characters fit in them */
    assert_int_equal(out.len, 496 + 3);
    assert_true(sv_ends(buf_sv(&out), SV_LIT("\xc3\xa9...")));
    buf_done(&body);
    buf_done(&out);
    for (size_t i = 0; i < 500; i++)
        buf_add_char(&body, 'x');
    backend_error_text(buf_sv(&body), &out);
    assert_int_equal(out.len, 500);
    assert_true(sv_ends(buf_sv(&out), SV_LIT("xxxx")));
    buf_done(&body);
    buf_done(&out);
}

/* Every pair of these is read one after the other: what is remembered of the first never shows in the second. */
static const char *const neighbours[] = {
    "{\"id\":\"a\",\"choices\":[{\"text\":\" a\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\" about\",\"index\":0}]}",
    "{\"id\":\"b\",\"choices\":[{\"text\":\" about\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"\\\"\\u00e9\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"\\\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"\\x\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"a\tb\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"x\",\"text\":\"y\",\"index\":0}]}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"x\",\"index\":0}],\"usage\":{\"prompt_tokens\":7,"
    "\"completion_tokens\":1}}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"xy\",\"index\":0}],\"usage\":{\"prompt_tokens\":7,"
    "\"completion_tokens\":1}}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\"xy\",\"index\":0}],\"usage\":{\"prompt_tokens\":7,"
    "\"completion_tokens\":2}}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\" a\",\"index\":0}],\"error\":\"no\"}",
    "{\"id\":\"a\",\"choices\":[{\"text\":\" a\",\"index\":0}]",
    "{\"id\":\"a\",\"choices\":[{\"text\":\" a\",\"index\":0}]}}",
    "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}",
    "{\"choices\":[{\"delta\":{\"content\":\"bc\"}}]}",
    "{\"choices\":[{\"delta\":{\"content\":\"\"}}]}",
    "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}",
    "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"a\"}}]}",
    "{\"choices\":[{\"delta\":{\"reasoning\":\"a\"}}]}",
    "{\"choices\":[{\"delta\":{\"reasoning\":\"a\",\"content\":\"b\"}}]}",
    "{\"choices\":[{\"delta\":{\"reasoning\":\"a\",\"content\":\"cd\"}}]}",
    "[DONE]",
    "",
};
enum { NEIGHBOURS = sizeof(neighbours) / sizeof(neighbours[0]) };

static void check_next(const struct backend *backend, struct backend_memo *memo, const char *name,
                       const char *data)
{
    struct reply_event alone;
    enum scan_result wanted = backend->scan(sv_from(name), sv_from(data), &alone);
    enum scan_result result = backend_scan_next(backend, memo, sv_from(name), sv_from(data));
    const struct reply_event *event = &memo->event;
    assert_int_equal(result, wanted);
    assert_int_equal(event->done, alone.done);
    assert_int_equal(event->reasoning, alone.reasoning);
    if (result != SCAN_BAD) {
        assert_int_equal(event->text.len, alone.text.len);
        assert_true(event->text.len == 0 || event->text.ptr == alone.text.ptr);
    }
    assert_true(sv_eq(event->error, alone.error));
    assert_int_equal(event->prompt_tokens, alone.prompt_tokens);
    assert_int_equal(event->completion_tokens, alone.completion_tokens);
    assert_int_equal(event->cached_tokens, alone.cached_tokens);
    assert_int_equal(event->reasoning_tokens, alone.reasoning_tokens);
}

static void the_event_before_never_shows_in_the_next(void **state)
{
    (void)state;
    for (size_t b = 0; backend_at(b) != NULL; b++) {
        for (size_t i = 0; i < NEIGHBOURS * NEIGHBOURS; i++) {
            struct backend_memo memo = {0};
            check_next(backend_at(b), &memo, "", neighbours[i / NEIGHBOURS]);
            check_next(backend_at(b), &memo, "", neighbours[i % NEIGHBOURS]);
            check_next(backend_at(b), &memo, "error", neighbours[i / NEIGHBOURS]);
            check_next(backend_at(b), &memo, "", neighbours[i % NEIGHBOURS]);
            check_next(backend_at(b), &memo, "", neighbours[i / NEIGHBOURS]);
        }
    }
}

static void a_repeated_event_is_recognised(void **state)
{
    (void)state;
    const struct backend *never = &(struct backend){.scan = NULL}; /* a full look would crash */
    struct backend_memo memo = {0};
    backend_scan_next(backend_find("openai"), &memo, sv_make("", 0), sv_from(neighbours[0]));
    assert_int_equal(backend_scan_next(never, &memo, sv_make("", 0), sv_from(neighbours[1])),
                     SCAN_TOKEN);
    assert_true(sv_eq(memo.event.text, SV_LIT(" about")));
    assert_int_equal(backend_scan_next(never, &memo, sv_make("", 0), sv_from(neighbours[4])),
                     SCAN_TOKEN);
    assert_true(sv_eq(memo.event.text, SV_LIT("\\\"\\u00e9")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completions_chunks_with_a_choice_are_tokens),
        cmocka_unit_test(chat_deltas_with_something_in_them_are_tokens),
        cmocka_unit_test(only_reasoning_is_told_apart_from_an_answer),
        cmocka_unit_test(errors_carry_the_servers_message),
        cmocka_unit_test(text_that_is_not_json_is_bad),
        cmocka_unit_test(usage_is_read_wherever_it_stands),
        cmocka_unit_test(reasoning_tokens_are_read_by_either_name),
        cmocka_unit_test(server_metrics_are_read),
        cmocka_unit_test(a_reply_that_is_no_stream_has_no_token),
        cmocka_unit_test(the_event_before_never_shows_in_the_next),
        cmocka_unit_test(a_repeated_event_is_recognised),
        cmocka_unit_test(error_bodies_give_readable_text),
        cmocka_unit_test(long_error_bodies_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Workloads that a backend cannot send are refused before anything is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load/fit.h"

#define PART "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA==\"}}"

enum request_kind { TEXT, LIST, ONE_PICTURE, TWO_PICTURES, RECORDING, KINDS };

static const struct request_file recording = {.bytes = {"RIFF", 4}};

static const struct request requests[KINDS] = {
    [TEXT] = {.prompt = {.kind = PROMPT_JSON, .json = {"\"a\"", 3}}},
    [LIST] = {.prompt = {.kind = PROMPT_JSON, .json = {"[\"a\",\"b\"]", 9}, .first_bytes = 3},
              .sequences = 2},
    [ONE_PICTURE] = {.prompt = {.kind = PROMPT_JSON, .json = {"\"a\"", 3}},
                     .media = {PART, sizeof(PART) - 1}},
    [TWO_PICTURES] = {.prompt = {.kind = PROMPT_JSON, .json = {"\"a\"", 3}},
                      .media = {PART "," PART, sizeof(PART "," PART) - 1}},
    [RECORDING] = {.prompt = {.kind = PROMPT_JSON, .json = {"\"a\"", 3}}, .file = &recording},
};

struct row {
    const char *backend;
    const char *extra_body;
    const char *taken; /* a letter for each kind: y taken, w taken with a warning, n refused */
};

static void check(const struct row *row)
{
    const struct backend *backend = backend_find(row->backend);
    struct config config = {.extra_body = row->extra_body};
    struct body_template body;
    struct error err;
    assert_true(backend->body_parts(&config, &body, &err));
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct request pair[2] = {requests[kind], requests[kind]};
        struct workload workload = {.requests = pair, .count = 2};
        const char *warning;
        bool fits = load_fits(backend, &body, &workload, &warning, &err);
        char got = !fits ? 'n' : warning != NULL ? 'w' : 'y';
        if (got != row->taken[kind])
            fail_msg("%s, kind %zu: got %c", row->backend, kind, got);
        if (!fits)
            assert_non_null(strstr(err.message, row->backend));
    }
    body_template_done(&body);
}

static void only_what_a_backend_can_send_is_taken(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"openai", NULL, "yynnn"},
        {"openai-chat", NULL, "yyyyn"},
        {"openai-chat", "{\"messages\":[]}", "yynnn"},
        {"openai-responses", NULL, "yynnn"},
        {"openai-audio", NULL, "nnnny"},
        {"openai-embeddings", NULL, "yynnn"},
        {"openai-embeddings-chat", NULL, "yyyyn"},
        {"openai-embeddings-clip", NULL, "yyyyn"},
        {"openai-embeddings-vlm2vec", NULL, "yyyyn"},
        {"infinity-embeddings", NULL, "yyynn"},
        {"infinity-embeddings-clip", NULL, "yyynn"},
        {"vllm-pooling", NULL, "yynnn"},
        {"vllm-rerank", NULL, "wynnn"},
        {"vllm-rerank", "{\"documents\":[\"a\"]}", "yynnn"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_a_backend_can_send_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

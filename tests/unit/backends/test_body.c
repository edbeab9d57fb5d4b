/* Request bodies: the texts that go on the wire, compared with bodies recorded from vllm bench serve 0.33.0 (there with
 * blanks and escapes, here compact). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/backend.h"

#define PROMPT "\"Say \\\"h\xc3\xa9\\\"\""

enum flags { PLAIN = 1, IGNORE_EOS = 2, LOGPROBS_3 = 4 };

/* Sampling flags as "name=number" words. */
struct row {
    const char *what;
    const char *backend;
    unsigned flags;
    const char *sampling;
    const char *extra;
    const char *body;
};

#define COMPLETIONS_HEAD "{\"model\":\"mock-model\",\"prompt\":" PROMPT ",\"repetition_penalty\":"
#define STREAM           "\"stream\":true,\"stream_options\":{\"include_usage\":true}"
#define CHAT_HEAD                                                                                  \
    "{\"model\":\"mock-model\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","  \
    "\"text\":" PROMPT "}]}],\"max_completion_tokens\":6," STREAM

#define RESPONSES_HEAD                                                                             \
    "{\"model\":\"mock-model\",\"input\":" PROMPT                                                  \
    ",\"max_output_tokens\":6,\"stream\":true,\"store\":false"
#define EMBED_MESSAGES                                                                             \
    "{\"model\":\"mock-model\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","  \
    "\"text\":" PROMPT "}]}],\"truncate_prompt_tokens\":"

static const struct row rows[] = {
    {"completions", "vllm", 0, "", NULL,
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null," STREAM "}"},
    {"openai is the same API", "openai", 0, "", NULL,
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null," STREAM "}"},
    {"logprobs", "openai", LOGPROBS_3, "", NULL,
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":3," STREAM "}"},
    {"ignore_eos", "openai", IGNORE_EOS, "", NULL,
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null," STREAM ",\"ignore_eos\":true}"},
    {"extra keys beat sampling flags in their place and are appended else", "openai", 0,
     "temperature=0.5",
     "{\"temperature\": 0.25, \"seed\": 7, \"stop\": [\"\\n\\n\"], \"nested\": {\"a\": [1, 2.5, "
     "null, true]}, \"repetition_penalty\": 1.2}",
     COMPLETIONS_HEAD "1.2,\"max_tokens\":6,\"logprobs\":null," STREAM
                      ",\"temperature\":0.25,\"seed\":7,\"stop\":[\"\\n\\n\"],"
                      "\"nested\":{\"a\":[1,2.5,null,true]}}"},
    {"sampling flags in their order, repetition_penalty in its place", "openai", 0,
     "top_p=0.9 top_k=20 temperature=0.0 repetition_penalty=1.1", NULL,
     COMPLETIONS_HEAD "1.1,\"max_tokens\":6,\"logprobs\":null," STREAM
                      ",\"top_p\":0.9,\"top_k\":20,\"temperature\":0.0}"},
    {"extra model and length", "openai", 0, "", "{\"model\": \"other\", \"max_tokens\": 3}",
     "{\"model\":\"other\",\"prompt\":" PROMPT ",\"repetition_penalty\":1.0,\"max_tokens\":3,"
     "\"logprobs\":null," STREAM "}"},
    {"extra prompt", "openai", 0, "", "{\"prompt\":[1,2]}",
     "{\"model\":\"mock-model\",\"prompt\":[1,2],\"repetition_penalty\":1.0,\"max_tokens\":6,"
     "\"logprobs\":null," STREAM "}"},
    {"extra stream", "openai", 0, "", "{\"stream\": false}",
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null,\"stream\":false,"
                      "\"stream_options\":{\"include_usage\":true}}"},
    {"extra ignore_eos beats the flag", "openai", IGNORE_EOS, "", "{\"ignore_eos\":false}",
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null," STREAM ",\"ignore_eos\":false}"},
    {"the same extra key twice: the last value in the first's place", "openai", 0, "",
     "{\"a\":1,\"b\":2,\"a\":3}",
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null," STREAM ",\"a\":3,\"b\":2}"},
    {"numbers stay as written, text stays UTF-8", "openai", 0, "",
     "{\"n\": 1.50E2, \"\xc3\xa9\\u00e9\\\"\": \"\xe4\xb8\xad\"}",
     COMPLETIONS_HEAD "1.0,\"max_tokens\":6,\"logprobs\":null," STREAM
                      ",\"n\":1.50E2,\"\xc3\xa9\xc3\xa9\\\"\":\"\xe4\xb8\xad\"}"},
    {"plain OpenAI completions", "openai", PLAIN | IGNORE_EOS, "top_k=5 temperature=1.0",
     "{\"min_p\":0.1}",
     "{\"model\":\"mock-model\",\"prompt\":" PROMPT ",\"max_tokens\":6,\"logprobs\":null," STREAM
     ",\"temperature\":1.0,\"min_p\":0.1}"},

    {"chat", "openai-chat", 0, "", NULL, CHAT_HEAD "}"},
    {"chat has no logprobs", "openai-chat", LOGPROBS_3, "", NULL, CHAT_HEAD "}"},
    {"chat with sampling", "openai-chat", 0, "top_p=1.0 temperature=0.0", NULL,
     CHAT_HEAD ",\"top_p\":1.0,\"temperature\":0.0}"},
    {"chat with extra keys", "openai-chat", IGNORE_EOS, "",
     "{\"chat_template_kwargs\": {\"enable_thinking\": false}, \"min_tokens\": 3}",
     CHAT_HEAD ",\"ignore_eos\":true,\"chat_template_kwargs\":{\"enable_thinking\":false},"
               "\"min_tokens\":3}"},
    {"chat with messages of its own", "openai-chat", 0, "", "{\"messages\":[]}",
     "{\"model\":\"mock-model\",\"messages\":[],\"max_completion_tokens\":6," STREAM "}"},
    {"plain OpenAI chat", "openai-chat", PLAIN | IGNORE_EOS, "", NULL, CHAT_HEAD "}"},

    {"responses", "openai-responses", 0, "", NULL, RESPONSES_HEAD "}"},
    {"responses with sampling", "openai-responses", IGNORE_EOS, "temperature=0.0", NULL,
     RESPONSES_HEAD ",\"ignore_eos\":true,\"temperature\":0.0}"},
    {"responses with extra keys", "openai-responses", 0, "",
     "{\"store\":true,\"reasoning\":{\"effort\":\"low\"}}",
     "{\"model\":\"mock-model\",\"input\":" PROMPT ",\"max_output_tokens\":6,\"stream\":true,"
     "\"store\":true,\"reasoning\":{\"effort\":\"low\"}}"},
    {"responses have no logprobs", "openai-responses", LOGPROBS_3, "", NULL, RESPONSES_HEAD "}"},

    {"embeddings", "openai-embeddings", 0, "", NULL,
     "{\"model\":\"mock-model\",\"input\":" PROMPT ",\"truncate_prompt_tokens\":-1}"},
    {"embeddings never ask to ignore the end of text", "openai-embeddings", IGNORE_EOS, "", NULL,
     "{\"model\":\"mock-model\",\"input\":" PROMPT ",\"truncate_prompt_tokens\":-1}"},
    {"embeddings with an encoding", "openai-embeddings", 0, "", "{\"encoding_format\": \"base64\"}",
     "{\"model\":\"mock-model\",\"input\":" PROMPT ",\"truncate_prompt_tokens\":-1,"
     "\"encoding_format\":\"base64\"}"},
    {"plain OpenAI embeddings", "openai-embeddings", PLAIN, "", NULL,
     "{\"model\":\"mock-model\",\"input\":" PROMPT "}"},
    {"embeddings of messages", "openai-embeddings-chat", 0, "", "{\"truncate_prompt_tokens\":64}",
     EMBED_MESSAGES "64}"},
    {"CLIP with a text", "openai-embeddings-clip", 0, "", NULL, EMBED_MESSAGES "-1}"},
    {"VLM2Vec with a text", "openai-embeddings-vlm2vec", 0, "", NULL, EMBED_MESSAGES "-1}"},
    {"pooling", "vllm-pooling", 0, "", "{\"normalize\":true}",
     "{\"model\":\"mock-model\",\"truncate_prompt_tokens\":-1,\"input\":" PROMPT
     ",\"normalize\":true}"},
    {"rerank: a text is a query", "vllm-rerank", 0, "", NULL,
     "{\"model\":\"mock-model\",\"query\":" PROMPT ",\"truncate_prompt_tokens\":-1}"},
    {"rerank: extra documents in their place", "vllm-rerank", 0, "",
     "{\"top_n\":1,\"documents\":[\"a\",\"b\"]}",
     "{\"model\":\"mock-model\",\"query\":" PROMPT ",\"documents\":[\"a\",\"b\"],"
     "\"truncate_prompt_tokens\":-1,\"top_n\":1}"},
    {"infinity", "infinity-embeddings", 0, "", NULL,
     "{\"model\":\"mock-model\",\"input\":" PROMPT "}"},
    {"infinity for CLIP with a text", "infinity-embeddings-clip", 0, "", NULL,
     "{\"model\":\"mock-model\",\"input\":" PROMPT "}"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), MAX_SAMPLING = 8 };

static void fill_config(struct config *config, const struct row *row, struct config_pair *pairs)
{
    *config = (struct config){.extra_body = row->extra,
                              .has_logprobs = (row->flags & LOGPROBS_3) != 0,
                              .logprobs = 3,
                              .ignore_eos = (row->flags & IGNORE_EOS) != 0,
                              .plain_openai = (row->flags & PLAIN) != 0};
    struct sv rest = sv_from(row->sampling);
    struct sv word;
    config->sampling.items = pairs;
    while (rest.len > 0 && sv_split(&rest, ' ', &word)) {
        struct sv value = word;
        assert_true(config->sampling.count < MAX_SAMPLING);
        sv_split(&value, '=', &pairs[config->sampling.count].key);
        pairs[config->sampling.count++].value = value;
    }
}

/* As the load engine puts the parts together. */
static void put_together(const struct body_template *t, struct body_values values,
                         const char *model, struct buf *out)
{
    struct buf text = {0};
    struct sv views[BODY_MAX_VIEWS];
    body_model_text(t, model, &text);
    values.model = buf_sv(&text);
    size_t count = body_expand(t, &values, views);
    for (size_t i = 0; i < count; i++)
        buf_add(out, views[i]);
    buf_done(&text);
}

static const struct body_values text_request = {.prompt = {PROMPT, sizeof(PROMPT) - 1},
                                                .output_len = {"6", 1}};

static void bodies_are_those_of_the_python_tool(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct config config;
        struct config_pair pairs[MAX_SAMPLING];
        struct body_template t;
        struct error err = {0};
        struct buf body = {0};
        fill_config(&config, &rows[i], pairs);
        const struct backend *backend = backend_find(rows[i].backend);
        if (!backend->body_parts(&config, &t, &err))
            fail_msg("%s: %s", rows[i].what, err.message);
        put_together(&t, text_request, "mock-model", &body);
        if (!sv_eq(buf_sv(&body), sv_from(rows[i].body)))
            fail_msg("%s: got\n%s, wanted\n%s", rows[i].what, buf_cstr(&body), rows[i].body);
        buf_done(&body);
        body_template_done(&t);
    }
}

static void an_extra_key_in_a_slot_takes_it_away(void **state)
{
    (void)state;
    struct config config = {.extra_body = "{\"prompt\":\"p\"}"};
    struct body_template t;
    struct error err;
    assert_true(backend_find("openai")->body_parts(&config, &t, &err));
    assert_false(body_has(&t, PART_PROMPT));
    assert_true(body_has(&t, PART_OUTPUT_LEN));
    body_template_done(&t);
    config.extra_body = "{\"max_completion_tokens\":null}";
    assert_true(backend_find("openai-chat")->body_parts(&config, &t, &err));
    assert_true(body_has(&t, PART_PROMPT));
    assert_false(body_has(&t, PART_OUTPUT_LEN));
    body_template_done(&t);
}

static void the_model_name_is_escaped(void **state)
{
    (void)state;
    struct config config = {0};
    struct body_template t;
    struct error err;
    struct buf body = {0};
    assert_true(backend_find("openai")->body_parts(&config, &t, &err));
    put_together(&t, text_request, "a\"\\\n", &body);
    assert_true(sv_starts(buf_sv(&body), SV_LIT("{\"model\":\"a\\\"\\\\\\n\",\"prompt\":")));
    buf_done(&body);
    body_template_done(&t);
}

static void extra_body_that_is_no_object_is_an_error(void **state)
{
    (void)state;
    struct config config = {.extra_body = "[1]"};
    struct body_template t;
    struct error err;
    assert_false(backend_find("openai")->body_parts(&config, &t, &err));
    assert_non_null(strstr(err.message, "--extra-body"));
    config.extra_body = "{\"a\":";
    assert_false(backend_find("openai")->body_parts(&config, &t, &err));
    assert_non_null(strstr(err.message, "--extra-body"));
}

static void the_table_finds_every_name(void **state)
{
    (void)state;
    for (size_t i = 0; backend_at(i) != NULL; i++)
        assert_ptr_equal(backend_find(backend_at(i)->name), backend_at(i));
    assert_string_equal(backend_find("openai-chat")->endpoint, "/v1/chat/completions");
    assert_string_equal(backend_find("vllm")->endpoint, "/v1/completions");
    assert_string_equal(backend_find("openai-audio")->endpoint, "/v1/audio/transcriptions");
    assert_string_equal(backend_find("vllm-pooling")->endpoint, "/pooling");
    assert_string_equal(backend_find("vllm-rerank")->endpoint, "/v1/rerank");
    assert_null(backend_find("nope"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_those_of_the_python_tool),
        cmocka_unit_test(an_extra_key_in_a_slot_takes_it_away),
        cmocka_unit_test(the_model_name_is_escaped),
        cmocka_unit_test(extra_body_that_is_no_object_is_an_error),
        cmocka_unit_test(the_table_finds_every_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

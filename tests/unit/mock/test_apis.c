/* The APIs beside completions and chat: what their bodies ask for, and whole answers over real sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "mock/ask.h"
#include "mock/mock.h"
#include "talk.h"

/* ---- requests -------------------------------------------------------------------------------------------------- */

static void test_inputs_of_pooling_requests_are_counted(void **state)
{
    (void)state;
    static const struct {
        enum mock_api api;
        const char *body;
        uint64_t inputs, tokens; /* 0 inputs and 0 tokens: refused */
        enum mock_encoding encoding;
    } rows[] = {
        /* " the", " fox" are a token each */
        {MOCK_API_EMBEDDINGS, "{\"input\":\" the fox\"}", 1, 2, MOCK_ENCODING_FLOAT},
        {MOCK_API_EMBEDDINGS, "{\"input\":[\" the\",\" fox fox\"]}", 2, 3, MOCK_ENCODING_FLOAT},
        {MOCK_API_EMBEDDINGS, "{\"input\":[7,8,9]}", 1, 3, MOCK_ENCODING_FLOAT},
        {MOCK_API_POOLING, "{\"input\":[[7,8],[9]]}", 2, 3, MOCK_ENCODING_FLOAT},
        {MOCK_API_POOLING, "{\"input\":\" fox\",\"encoding_format\":\"bytes\"}", 1, 1,
         MOCK_ENCODING_BYTES},
        {MOCK_API_EMBEDDINGS, "{\"messages\":[{\"role\":\"user\",\"content\":\" fox\"}]}", 1, 14,
         MOCK_ENCODING_FLOAT},
        {MOCK_API_RERANK, "{\"documents\":[\" fox\",{\"text\":\" the fox\"}],\"query\":\" the\"}",
         2, 5, MOCK_ENCODING_FLOAT}, /* the query stands before each document */
        {MOCK_API_RERANK, "{\"query\":\" the\"}", 0, 0, MOCK_ENCODING_FLOAT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mock_ask ask;
        if (!mock_ask_pool(&ask, rows[i].api, sv_from(rows[i].body)))
            fail_msg("%s: %s", rows[i].body, ask.message);
        assert_int_equal(ask.inputs, rows[i].inputs);
        assert_int_equal(ask.prompt_tokens, rows[i].tokens);
        assert_int_equal(ask.encoding, rows[i].encoding);
    }
}

static void test_wrong_pooling_bodies_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum mock_api api;
        const char *body;
        const char *param;
    } rows[] = {
        {MOCK_API_EMBEDDINGS, "{}", "input"},
        {MOCK_API_EMBEDDINGS, "{\"input\":1}", "input"},
        {MOCK_API_EMBEDDINGS, "{\"input\":[[[1]]]}", "input"},
        {MOCK_API_EMBEDDINGS, "{\"input\":\"a\",\"encoding_format\":\"hex\"}", "encoding_format"},
        {MOCK_API_RERANK, "{\"documents\":[\"a\"]}", "query"},
        {MOCK_API_RERANK, "{\"query\":\"a\",\"documents\":\"b\"}", "documents"},
        {MOCK_API_RERANK, "{\"query\":\"a\",\"documents\":[1]}", "documents"},
        {MOCK_API_RESPONSES, "{\"max_output_tokens\":4}", "input"},
        {MOCK_API_RESPONSES, "{\"input\":{}}", "input"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mock_ask ask;
        struct sv body = sv_from(rows[i].body);
        bool ok = rows[i].api == MOCK_API_RESPONSES ? mock_ask_responses(&ask, body)
                                                    : mock_ask_pool(&ask, rows[i].api, body);
        assert_false(ok);
        assert_int_equal(ask.status, 400);
        assert_string_equal(ask.param, rows[i].param);
    }
}

static void test_response_fields_are_read(void **state)
{
    (void)state;
    struct mock_ask ask;
    assert_true(mock_ask_responses(
        &ask, SV_LIT("{\"model\":\"m\",\"input\":\" the fox\",\"max_output_tokens\":9,"
                     "\"stream\":true,\"store\":false,\"ignore_eos\":true}")));
    assert_int_equal(ask.prompt_tokens, 2);
    assert_int_equal(ask.max_tokens, 9);
    assert_true(ask.stream && ask.ignore_eos && ask.has_max_tokens);
    assert_true(
        mock_ask_responses(&ask, SV_LIT("{\"input\":[{\"role\":\"user\",\"content\":\" fox\"}]}")));
    assert_int_equal(ask.prompt_tokens, 14);
}

#define PART(name, value)                                                                          \
    "--XyZ\r\nContent-Disposition: form-data; name=" name "\r\n\r\n" value "\r\n"

static void test_forms_are_taken_apart(void **state)
{
    (void)state;
    static const char fields[] =
        "Host: a\r\nContent-Type: multipart/form-data; charset=x; boundary=\"XyZ\"\r\n";
    struct mock_ask ask;
    assert_true(mock_ask_audio(
        &ask, sv_from(fields),
        SV_LIT(PART("\"file\"; filename=\"a.wav\"", "--XyY\r\n\r\nRIFF") PART("model", "m\"1") PART(
            "\"stream\"", "True") PART("\"max_completion_tokens\"", "5") "--XyZ--\r\n")));
    assert_true(sv_eq(ask.model, SV_LIT("m\"1")));
    assert_true(ask.stream && ask.has_prompt);
    assert_int_equal(ask.max_tokens, 5);
    assert_int_equal(ask.prompt_tokens, 1);
    static const char *const wrong[] = {
        "",
        "--XyZ",
        "--XyZ--\r\n",
        PART("\"model\"", "m") "--XyZ--\r\n",
        PART("\"file\"", "RIFF"),
        "--XyZ\r\nContent-Disposition: form-data\r\n\r\nRIFF\r\n--XyZ--\r\n",
        "--XyZ\r\nno content\r\n--XyZ--\r\n",
        PART("\"file\"", "RIFF") PART("\"max_completion_tokens\"", "x") "--XyZ--\r\n",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(mock_ask_audio(&ask, sv_from(fields), sv_from(wrong[i])));
        assert_int_equal(ask.status, 400);
    }
    assert_false(mock_ask_audio(&ask, SV_LIT("Content-Type: application/json\r\n"), SV_LIT("{}")));
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static struct mock_server *start(struct mock_options *o)
{
    struct error err = {0};
    struct mock_server *server = mock_start(o, &err);
    if (server == NULL)
        fail_msg("%s", err.message);
    return server;
}

static void quick(struct mock_options *o)
{
    mock_options_init(o);
    o->ttft_ns = 2 * NS_PER_MS;
    o->itl_ns = NS_PER_MS;
    o->threads = 1;
}

static void stop(struct mock_server *server)
{
    struct error err;
    assert_true(mock_stop(server, &err));
}

static void expect(uint16_t port, const char *path, const char *json, const char *const *parts)
{
    struct talk t;
    assert_int_equal(talk_once(&t, port, path, json), TALK_DONE);
    for (; *parts != NULL; parts++) {
        if (!talk_has(&t, *parts))
            fail_msg("%s has no '%s': %.*s", path, *parts, (int)t.body.len, t.body.ptr);
    }
    talk_close(&t);
}

#define EXPECT(port, path, json, ...)                                                              \
    expect(port, path, json, (const char *const[]){__VA_ARGS__, NULL})

static void test_responses_stream_typed_events(void **state)
{
    (void)state;
    struct mock_options o;
    quick(&o);
    o.reasoning = 2;
    struct mock_server *server = start(&o);
    struct talk t;
    talk_once(&t, mock_port(server), "/v1/responses",
              "{\"input\":\" fox\",\"max_output_tokens\":5,\"stream\":true}");
    assert_int_equal(
        talk_count(&t, "event: response.created\ndata: {\"type\":\"response.created\""), 1);
    assert_int_equal(talk_count(&t, "\nevent: response.reasoning_text.delta\n"), 2);
    assert_int_equal(talk_count(&t, "\nevent: response.output_text.delta\n"), 3);
    assert_int_equal(talk_count(&t, "\nevent: response.incomplete\n"), 1);
    assert_int_equal(talk_count(&t, "[DONE]"), 0);
    assert_true(talk_has(&t, "\"usage\":{\"input_tokens\":1,"));
    assert_true(
        talk_has(&t, "\"output_tokens\":5,\"output_tokens_details\":{\"reasoning_tokens\":2"));
    talk_close(&t);
    EXPECT(mock_port(server), "/v1/responses", "{\"input\":\" fox\",\"max_output_tokens\":5}",
           "\"object\":\"response\"", "\"type\":\"output_text\"", "\"output_tokens\":5");
    stop(server);
    o.error_event_after = 1;
    server = start(&o);
    EXPECT(mock_port(server), "/v1/responses", "{\"input\":\"a\",\"stream\":true}",
           "event: response.failed\n", "error injected by the mock server");
    stop(server);
}

static void test_pooling_answers_hold_a_vector_for_each_input(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    struct mock_server *server = start(&o);
    uint16_t port = mock_port(server);
    EXPECT(port, "/v1/embeddings", "{\"input\":[\" the\",\" fox\"],\"model\":\"m\"}",
           "\"model\":\"m\"", "{\"index\":1,\"object\":\"embedding\",\"embedding\":[0.0,",
           "\"usage\":{\"prompt_tokens\":2,");
    EXPECT(port, "/embeddings", "{\"input\":\"a\",\"encoding_format\":\"base64\"}",
           "\"embedding\":\"AAAAAAAAAD4AAIA+AADAPgAAAD8AACA/AABAPwAAYD8=\"");
    EXPECT(port, "/pooling", "{\"input\":\"a\"}", "\"object\":\"pooling\",\"data\":[");
    EXPECT(port, "/v1/rerank", "{\"query\":\" the\",\"documents\":[\" fox\",\" fox\"]}",
           "\"results\":[{\"index\":0,", "{\"index\":1,", "\"usage\":{\"prompt_tokens\":4,");
    talk_once(&t, port, "/pooling", "{\"input\":[\"a\",\"b\"],\"encoding_format\":\"bytes\"}");
    assert_int_equal(t.body.len, 2 * 8 * 4);
    assert_memory_equal(t.body.ptr, "\0\0\0\0\0\0\0\x3e", 8);
    assert_non_null(strstr(buf_cstr(&t.head), "metadata: {\"usage\":{\"prompt_tokens\":2,"));
    talk_close(&t);
    talk_once(&t, port, "/pooling", "{\"input\":\"a\",\"encoding_format\":\"bytes_only\"}");
    assert_null(strstr(buf_cstr(&t.head), "metadata"));
    assert_int_equal(t.body.len, 8 * 4);
    talk_close(&t);
    stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs_of_pooling_requests_are_counted),
        cmocka_unit_test(test_wrong_pooling_bodies_are_refused),
        cmocka_unit_test(test_response_fields_are_read),
        cmocka_unit_test(test_forms_are_taken_apart),
        cmocka_unit_test(test_responses_stream_typed_events),
        cmocka_unit_test(test_pooling_answers_hold_a_vector_for_each_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The mock server over real sockets: what it answers on its paths, and how answers are framed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "mock/mock.h"
#include "mock/tokens.h"
#include "talk.h"

/* A server with short times; the caller changes options before starting. */
static void quick(struct mock_options *o)
{
    mock_options_init(o);
    o->ttft_ns = 2 * NS_PER_MS;
    o->itl_ns = NS_PER_MS;
    o->threads = 1;
}

static struct mock_server *start(const struct mock_options *o)
{
    struct error err = {0};
    struct mock_server *server = mock_start(o, &err);
    if (server == NULL)
        fail_msg("%s", err.message);
    return server;
}

static void stop(struct mock_server *server)
{
    struct error err;
    assert_true(mock_stop(server, &err));
}

static const char stream_body[] =
    "{\"model\":\"m\",\"prompt\":[1,2,3],\"max_tokens\":4,\"stream\":true,"
    "\"stream_options\":{\"include_usage\":true}}";
static const char chat_body[] =
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\" fox\"}],"
    "\"max_completion_tokens\":4,\"stream\":true,\"stream_options\":{\"include_usage\":true}}";

static void test_small_paths_answer(void **state)
{
    (void)state;
    struct mock_options o;
    quick(&o);
    o.model = "tiny";
    o.max_model_len = 777;
    struct mock_server *server = start(&o);
    static const struct {
        const char *request;
        int status;
        const char *part;
    } rows[] = {
        {"GET /health HTTP/1.1\r\n\r\n", 200, ""},
        {"GET /v1/models HTTP/1.1\r\n\r\n", 200, "\"id\":\"tiny\""},
        {"GET /v1/models HTTP/1.1\r\n\r\n", 200, "\"root\":\"tiny\""},
        {"GET /v1/models HTTP/1.1\r\n\r\n", 200, "\"max_model_len\":777"},
        {"GET /version HTTP/1.1\r\n\r\n", 200, "\"version\":"},
        {"GET /metrics HTTP/1.1\r\n\r\n", 200,
         "vllm:num_requests_running{engine=\"0\",model_name=\"tiny\"} 0.0\n"},
        {"POST /start_profile HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 200, ""},
        {"POST /stop_profile HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 200, ""},
        {"POST /reset_prefix_cache HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 200, "true"},
        {"GET /nowhere HTTP/1.1\r\n\r\n", 404, "Not Found"},
        {"GET /v1/completions HTTP/1.1\r\n\r\n", 405, "Method Not Allowed"},
        {"POST /health HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405, "Method Not Allowed"},
        {"GET /truth HTTP/1.1\r\n\r\n", 404, "--truth"},
        {"POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\n\r\n{\"pro", 400, "JSON"},
        {"POST /tokenize HTTP/1.1\r\nContent-Length: 24\r\n\r\n{\"prompt\":\" the foxabc\"}", 200,
         "\"count\":4"},
        {"POST /detokenize HTTP/1.1\r\nContent-Length: 20\r\n\r\n{\"tokens\":[72,105]}\n", 200,
         "{\"prompt\":\"Hi\"}"},
    };
    struct talk t;
    talk_open(&t, mock_port(server)); /* one connection for all of them */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        talk_send(&t, rows[i].request);
        assert_int_equal(talk_read(&t), TALK_DONE);
        assert_int_equal(t.status, rows[i].status);
        assert_true(t.keep_alive);
        if (rows[i].part[0] != '\0')
            assert_true(talk_has(&t, rows[i].part));
    }
    talk_close(&t);
    stop(server);
}

static void test_completion_stream_has_its_tokens_usage_and_end(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    struct mock_server *server = start(&o);
    assert_int_equal(talk_once(&t, mock_port(server), "/v1/completions", stream_body), TALK_DONE);
    assert_int_equal(t.status, 200);
    assert_int_equal(talk_count(&t, "data: {"), 5);
    assert_int_equal(talk_count(&t, "\"text\":\""), 4);
    assert_int_equal(talk_count(&t, "\"finish_reason\":\"length\""), 1);
    assert_true(talk_has(&t, "\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":7,"
                             "\"completion_tokens\":4}"));
    assert_true(sv_ends(buf_sv(&t.body), SV_LIT("data: [DONE]\n\n")));
    talk_close(&t);
    stop(server);
}

static void test_chat_stream_opens_with_the_role(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.reasoning = 1;
    struct mock_server *server = start(&o);
    assert_int_equal(talk_once(&t, mock_port(server), "/v1/chat/completions", chat_body),
                     TALK_DONE);
    assert_int_equal(talk_count(&t, "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}"), 1);
    assert_int_equal(talk_count(&t, "\"delta\":{\"reasoning\":\""), 1);
    assert_int_equal(talk_count(&t, "\"delta\":{\"content\":\""), 3);
    assert_true(talk_has(&t, "\"prompt_tokens\":14,\"total_tokens\":18,\"completion_tokens\":4"));
    talk_close(&t);
    stop(server);
}

static void test_whole_answers_carry_text_of_the_length_they_tell(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    struct mock_server *server = start(&o);
    assert_int_equal(
        talk_once(&t, mock_port(server), "/v1/completions", "{\"prompt\":[1],\"max_tokens\":5}"),
        TALK_DONE);
    assert_true(talk_has(&t, "\"object\":\"text_completion\""));
    assert_true(talk_has(&t, "\"completion_tokens\":5"));
    const char *at = memmem(t.body.ptr, t.body.len, "\"text\":\"", 8);
    assert_non_null(at);
    struct sv text = sv_make(at + 8, (size_t)(t.body.ptr + t.body.len - at - 8));
    text.len = sv_find(text, '"');
    assert_int_equal(mock_tokens_encode(text, NULL), 5);
    talk_close(&t);
    assert_int_equal(
        talk_once(&t, mock_port(server), "/v1/chat/completions",
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"max_tokens\":2}"),
        TALK_DONE);
    assert_true(talk_has(&t, "\"message\":{\"role\":\"assistant\",\"content\":\" "));
    talk_close(&t);
    stop(server);
}

static void test_usage_comes_where_it_was_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *usage;
        const char *body;
        unsigned count;
    } rows[] = {
        {"final", "{\"prompt\":[1],\"max_tokens\":4,\"stream\":true}", 0},
        {"final", stream_body, 1},
        {"final",
         "{\"prompt\":[1],\"max_tokens\":4,\"stream\":true,\"stream_options\":"
         "{\"include_usage\":true,\"continuous_usage_stats\":true}}",
         5},
        {"each", "{\"prompt\":[1],\"max_tokens\":4,\"stream\":true}", 5},
        {"inline", "{\"prompt\":[1],\"max_tokens\":4,\"stream\":true}", 1},
        {"never", stream_body, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mock_options o;
        struct talk t;
        quick(&o);
        o.usage = rows[i].usage;
        struct mock_server *server = start(&o);
        talk_once(&t, mock_port(server), "/v1/completions", rows[i].body);
        assert_int_equal(talk_count(&t, "\"usage\":"), rows[i].count);
        talk_close(&t);
        stop(server);
    }
}

static void test_events_carry_several_tokens_and_metrics_count_drafts(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.tokens_per_event = 3;
    struct mock_server *server = start(&o);
    talk_once(&t, mock_port(server), "/v1/completions",
              "{\"prompt\":[1],\"max_tokens\":7,\"stream\":true}");
    assert_int_equal(talk_count(&t, "\"text\":\""), 3); /* 3 + 3 + 1 */
    talk_close(&t);
    talk_once(&t, mock_port(server), "/metrics", NULL);
    const char *label = "{engine=\"0\",model_name=\"mock-model\"} ";
    char line[200];
    snprintf(line, sizeof(line), "vllm:spec_decode_num_drafts_total%s3.0\n", label);
    assert_true(talk_has(&t, line));
    snprintf(line, sizeof(line), "vllm:spec_decode_num_draft_tokens_total%s6.0\n", label);
    assert_true(talk_has(&t, line));
    snprintf(line, sizeof(line), "vllm:spec_decode_num_accepted_tokens_total%s4.0\n", label);
    assert_true(talk_has(&t, line));
    assert_true(talk_has(&t, "position=\"0\"} 2.0\n"));
    assert_true(talk_has(&t, "position=\"1\"} 2.0\n"));
    talk_close(&t);
    stop(server);
}

/* The decoded body of one stream, with options set by `change`. */
static void read_stream(struct talk *t, struct mock_options *o)
{
    struct mock_server *server = start(o);
    assert_int_equal(talk_once(t, mock_port(server), "/v1/completions", stream_body), TALK_DONE);
    stop(server);
}

static void test_framing_options_keep_the_events(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.crlf = true;
    read_stream(&t, &o);
    assert_int_equal(talk_count(&t, "\r\n\r\n"), 6);
    talk_close(&t);
    quick(&o);
    o.cr = true;
    read_stream(&t, &o);
    assert_int_equal(talk_count(&t, "\r\r"), 6);
    assert_false(talk_has(&t, "\n"));
    talk_close(&t);
    quick(&o);
    o.comments = true;
    read_stream(&t, &o);
    assert_int_equal(talk_count(&t, ": keep-alive\n\n"), 5);
    assert_int_equal(talk_count(&t, "data: {"), 5);
    talk_close(&t);
    quick(&o);
    o.chunked = false;
    read_stream(&t, &o);
    assert_int_equal(talk_count(&t, "data: {"), 5);
    assert_false(t.keep_alive);
    assert_true(sv_ends(buf_sv(&t.body), SV_LIT("[DONE]\n\n")));
    talk_close(&t);
    quick(&o);
    o.done = false;
    o.final_empty = true;
    read_stream(&t, &o);
    assert_false(talk_has(&t, "[DONE]"));
    assert_true(talk_has(&t, "\"text\":\"\",\"logprobs\":null,\"finish_reason\":\"length\""));
    talk_close(&t);
    quick(&o);
    o.text_bytes = 40;
    read_stream(&t, &o);
    const char *at = memmem(t.body.ptr, t.body.len, "\"text\":\"", 8);
    assert_non_null(at);
    assert_int_equal(sv_find(sv_make(at + 8, 100), '"'), 40);
    talk_close(&t);
}

static void test_split_and_coalesced_writes_keep_the_bytes(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.split = 20;
    o.split_gap_us = 300;
    read_stream(&t, &o);
    assert_int_equal(talk_count(&t, "data: {"), 5);
    assert_true(t.reads > 10); /* over 1,000 bytes in all; whole events would be 6 reads */
    talk_close(&t);
    quick(&o);
    o.coalesce = 4;
    read_stream(&t, &o);
    assert_int_equal(talk_count(&t, "data: {"), 5);
    assert_true(t.reads <= 2); /* head, everything */
    talk_close(&t);
}

static void test_pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    char block[8192];
    size_t have = 0;
    quick(&o);
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    talk_send(&t, "POST /v1/completions HTTP/1.1\r\nContent-Length: 29\r\n\r\n"
                  "{\"prompt\":\"a\",\"max_tokens\":3}"
                  "GET /version HTTP/1.1\r\n\r\n"
                  "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n");
    ssize_t n;
    while ((n = recv(t.fd, block + have, sizeof(block) - have, 0)) > 0)
        have += (size_t)n;
    assert_int_equal(n, 0);
    const char *first = memmem(block, have, "text_completion", 15);
    const char *second = memmem(block, have, "\"version\"", 9);
    const char *third = memmem(block, have, "connection: close", 17);
    assert_true(first != NULL && second != NULL && third != NULL);
    assert_true(first < second && second < third);
    talk_close(&t);
    stop(server);
}

static void test_continue_is_sent_when_expected(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    char line[25] = {0};
    quick(&o);
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    talk_send(&t, "POST /tokenize HTTP/1.1\r\nExpect: 100-continue\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n");
    assert_int_equal(recv(t.fd, line, sizeof(line), MSG_WAITALL), 25);
    assert_memory_equal(line, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    talk_send(&t, "a\r\n{\"prompt\":\r\n4\r\n\"A\"}\r\n0\r\n\r\n");
    assert_int_equal(talk_read(&t), TALK_DONE);
    assert_true(talk_has(&t, "\"tokens\":[65]"));
    talk_close(&t);
    stop(server);
}

static void test_ipv6_and_several_threads_serve(void **state)
{
    (void)state;
    struct mock_options o;
    struct error err;
    quick(&o);
    o.host = "::1";
    o.threads = 3;
    struct mock_server *server = mock_start(&o, &err);
    if (server == NULL)
        skip(); /* a machine without IPv6 */
    for (int i = 0; i < 7; i++) {
        struct talk t;
        talk_open_v6(&t, mock_port(server));
        talk_post(&t, "/v1/completions", stream_body);
        assert_int_equal(talk_read(&t), TALK_DONE);
        assert_int_equal(talk_count(&t, "\"text\":\""), 4);
        talk_close(&t);
    }
    stop(server);
}

static void test_models_and_lengths_are_checked(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.strict_model = true;
    o.max_model_len = 10;
    struct mock_server *server = start(&o);
    talk_once(&t, mock_port(server), "/v1/completions", stream_body);
    assert_int_equal(t.status, 404);
    assert_true(talk_has(&t, "The model `m` does not exist"));
    talk_close(&t);
    talk_once(&t, mock_port(server), "/v1/completions",
              "{\"model\":\"mock-model\",\"prompt\":[1,2,3],\"max_tokens\":8}");
    assert_int_equal(t.status, 400);
    assert_true(talk_has(&t, "maximum context length is 10 tokens"));
    talk_close(&t);
    talk_once(&t, mock_port(server), "/v1/completions",
              "{\"model\":\"mock-model\",\"prompt\":[1,2,3],\"max_tokens\":7}");
    assert_int_equal(t.status, 200);
    talk_close(&t);
    stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_paths_answer),
        cmocka_unit_test(test_completion_stream_has_its_tokens_usage_and_end),
        cmocka_unit_test(test_chat_stream_opens_with_the_role),
        cmocka_unit_test(test_whole_answers_carry_text_of_the_length_they_tell),
        cmocka_unit_test(test_usage_comes_where_it_was_asked_for),
        cmocka_unit_test(test_events_carry_several_tokens_and_metrics_count_drafts),
        cmocka_unit_test(test_framing_options_keep_the_events),
        cmocka_unit_test(test_split_and_coalesced_writes_keep_the_bytes),
        cmocka_unit_test(test_pipelined_requests_are_answered_in_order),
        cmocka_unit_test(test_continue_is_sent_when_expected),
        cmocka_unit_test(test_ipv6_and_several_threads_serve),
        cmocka_unit_test(test_models_and_lengths_are_checked),
    };
    return cmocka_run_group_tests_name("mock_routes", tests, NULL, NULL);
}

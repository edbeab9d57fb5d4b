/* The mock server over real sockets: its schedule as the truth log tells it, its batch limit, and its faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "json/tree.h"
#include "mock/mock.h"
#include "talk.h"

static const char body[] = "{\"prompt\":[1,2,3],\"max_tokens\":8,\"stream\":true}";

static void quick(struct mock_options *o)
{
    mock_options_init(o);
    o->ttft_ns = 5 * NS_PER_MS;
    o->itl_ns = 2 * NS_PER_MS;
    o->threads = 1;
    o->truth = true;
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

static uint64_t number(const struct js_value *record, const char *name)
{
    int64_t value = 0;
    assert_true(js_as_i64(js_get(record, name), &value));
    return (uint64_t)value;
}

static uint64_t element(const struct js_value *record, const char *name, size_t i)
{
    int64_t value = 0;
    assert_true(js_as_i64(js_at(js_get(record, name), i), &value));
    return (uint64_t)value;
}

static bool is_text(const struct js_value *record, const char *name, const char *text)
{
    struct sv value;
    return js_as_sv(js_get(record, name), &value) && sv_eq(value, sv_from(text));
}

/* The records of /truth, one after the other: the caller counts. */
static size_t read_truth(uint16_t port, struct arena *arena, const struct js_value **records,
                         size_t most)
{
    struct talk t;
    struct error err;
    size_t count = 0;
    assert_int_equal(talk_once(&t, port, "/truth", NULL), TALK_DONE);
    assert_int_equal(t.status, 200);
    struct sv rest = arena_copy(arena, buf_sv(&t.body)), line;
    while (sv_split(&rest, '\n', &line)) {
        if (line.len == 0)
            continue;
        assert_true(count < most);
        records[count] = js_parse(arena, line, "truth", &err);
        assert_non_null(records[count]);
        count++;
    }
    talk_close(&t);
    return count;
}

static void test_events_are_due_on_an_absolute_schedule(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    struct arena arena = {0};
    const struct js_value *r = NULL;
    quick(&o);
    o.prefill_us_per_token = 1000;
    struct mock_server *server = start(&o);
    uint64_t before = clock_mono_ns();
    talk_once(&t, mock_port(server), "/v1/completions", body);
    uint64_t after = clock_mono_ns();
    talk_close(&t);
    assert_int_equal(read_truth(mock_port(server), &arena, &r, 1), 1);
    assert_true(is_text(r, "outcome", "complete"));
    assert_int_equal(number(r, "tokens"), 8);
    uint64_t arrival = number(r, "arrival_ns");
    assert_true(arrival > before && arrival < after);
    for (size_t i = 0; i < 8; i++) {
        uint64_t due = arrival + (8 + 2 * i) * NS_PER_MS; /* 5 ms and 3 tokens of 1 ms; 2 ms each */
        assert_int_equal(element(r, "due_ns", i), due);
        assert_true(element(r, "sent_ns", i) >= due);
        assert_true(element(r, "sent_ns", i) < after);
    }
    arena_done(&arena);
    stop(server);
}

static void test_truth_is_there_as_soon_as_the_answer_is_read(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.threads = 2;
    o.ttft_ns = o.itl_ns = 0;
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    for (size_t i = 1; i <= 50; i++) {
        struct arena arena = {0};
        const struct js_value *records[50];
        talk_post(&t, "/v1/completions", body);
        assert_int_equal(talk_read(&t), TALK_DONE);
        assert_int_equal(read_truth(mock_port(server), &arena, records, 50), i);
        arena_done(&arena);
    }
    talk_close(&t);
    stop(server);
}

static void test_truth_file_is_written_at_the_end(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    struct error err;
    struct buf text = {0};
    char path[] = "/tmp/mock_truth_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    quick(&o);
    o.truth = false;
    o.truth_file = path;
    struct mock_server *server = start(&o);
    talk_once(&t, mock_port(server), "/v1/completions", body);
    talk_close(&t);
    stop(server);
    assert_true(file_read(path, &text, &err));
    assert_true(sv_starts(buf_sv(&text), SV_LIT("{\"id\":\"cmpl-mock-0\"")));
    assert_true(sv_ends(buf_sv(&text), SV_LIT("}\n")));
    buf_done(&text);
    unlink(path);
}

/* Three at once, two places: the third starts when one of the first two has ended. */
static void test_requests_beyond_the_batch_wait(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t[3];
    struct arena arena = {0};
    const struct js_value *r[3];
    quick(&o);
    o.max_batch = 2;
    o.threads = 2;
    struct mock_server *server = start(&o);
    for (int i = 0; i < 3; i++) {
        talk_open(&t[i], mock_port(server));
        talk_post(&t[i], "/v1/completions", body);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(talk_read(&t[i]), TALK_DONE);
        talk_close(&t[i]);
    }
    assert_int_equal(read_truth(mock_port(server), &arena, r, 3), 3);
    unsigned waited = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t start_ns = number(r[i], "start_ns");
        if (start_ns == number(r[i], "arrival_ns"))
            continue;
        waited++;
        unsigned ended = 0;
        for (int k = 0; k < 3; k++)
            ended += k != i && element(r[k], "sent_ns", 7) <= start_ns;
        assert_true(ended >= 1);
        assert_int_equal(element(r[i], "due_ns", 0), start_ns + 5 * NS_PER_MS);
    }
    assert_int_equal(waited, 1);
    arena_done(&arena);
    stop(server);
}

static void test_a_larger_batch_is_slower(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t[2];
    struct arena arena = {0};
    const struct js_value *r[2];
    quick(&o);
    o.itl_per_stream_us = 1000;
    o.ttft_ns = 20 * NS_PER_MS; /* both are running when the first tokens are due */
    struct mock_server *server = start(&o);
    for (int i = 0; i < 2; i++) {
        talk_open(&t[i], mock_port(server));
        talk_post(&t[i], "/v1/completions", body);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(talk_read(&t[i]), TALK_DONE);
        talk_close(&t[i]);
    }
    assert_int_equal(read_truth(mock_port(server), &arena, r, 2), 2);
    unsigned slow_gaps = 0;
    for (size_t i = 1; i < 8; i++) {
        uint64_t gap = element(r[0], "due_ns", i) - element(r[0], "due_ns", i - 1);
        assert_true(gap == 3 * NS_PER_MS || gap == 4 * NS_PER_MS); /* one running, two running */
        slow_gaps += gap == 4 * NS_PER_MS;
    }
    assert_true(slow_gaps > 0);
    arena_done(&arena);
    stop(server);
}

static void test_dropped_streams_end_or_reset_after_their_tokens(void **state)
{
    (void)state;
    for (int rst = 0; rst < 2; rst++) {
        struct mock_options o;
        struct talk t;
        quick(&o);
        o.drop_after = 3;
        o.drop_rst = rst == 1;
        struct mock_server *server = start(&o);
        enum talk_end end = talk_once(&t, mock_port(server), "/v1/completions", body);
        assert_int_equal(end, rst ? TALK_RESET : TALK_EOF);
        assert_int_equal(talk_count(&t, "\"text\":\""), 3);
        talk_close(&t);
        stop(server);
    }
}

static void test_error_status_and_not_ready_are_json_errors(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.error_rate = 1;
    o.error_status = 429;
    o.fail_first = 2;
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    for (int i = 0; i < 4; i++) {
        talk_post(&t, "/v1/completions", body);
        assert_int_equal(talk_read(&t), TALK_DONE);
        assert_int_equal(t.status, i < 2 ? 503 : 429);
        assert_true(sv_starts(buf_sv(&t.body), SV_LIT("{\"error\":{\"message\":")));
        assert_true(talk_has(&t, i < 2 ? "\"code\":503" : "\"code\":429"));
    }
    talk_close(&t);
    stop(server);
}

static void test_garbage_and_error_events_stand_inside_the_stream(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.garbage_rate = 1;
    struct mock_server *server = start(&o);
    talk_once(&t, mock_port(server), "/v1/completions", body);
    assert_int_equal(talk_count(&t, "\"text\":\n\n"), 1);
    assert_int_equal(talk_count(&t, "\"text\":\""), 8);
    talk_close(&t);
    stop(server);
    quick(&o);
    o.error_event_after = 2;
    server = start(&o);
    assert_int_equal(talk_once(&t, mock_port(server), "/v1/completions", body), TALK_DONE);
    assert_int_equal(t.status, 200);
    assert_int_equal(talk_count(&t, "\"text\":\""), 2);
    assert_int_equal(talk_count(&t, "data: {\"error\":{\"message\":"), 1);
    assert_true(sv_ends(buf_sv(&t.body), SV_LIT("data: [DONE]\n\n")));
    talk_close(&t);
    stop(server);
}

static bool metrics_say(uint16_t port, const char *line)
{
    struct talk t;
    talk_once(&t, port, "/metrics", NULL);
    bool found = talk_has(&t, line);
    talk_close(&t);
    return found;
}

static void test_a_stalled_stream_keeps_silent_until_the_client_leaves(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.stall_after = 2;
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    talk_post(&t, "/v1/completions", body);
    assert_int_equal(talk_read_for(&t, 50), TALK_SILENT);
    assert_int_equal(talk_count(&t, "\"text\":\""), 2);
    const char *running = "vllm:num_requests_running{engine=\"0\",model_name=\"mock-model\"} 1.0";
    assert_true(metrics_say(mock_port(server), running));
    talk_close(&t);
    int tries = 0;
    while (metrics_say(mock_port(server), running) && tries++ < 500)
        usleep(1000);
    assert_true(metrics_say(mock_port(server), "finished_reason=\"abort\"} 1.0"));
    stop(server);
}

static void test_idle_and_single_use_connections_are_closed(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    o.close_idle_ns = 10 * NS_PER_MS;
    struct mock_server *server = start(&o);
    talk_once(&t, mock_port(server), "/health", NULL);
    assert_true(t.keep_alive);
    assert_int_equal(talk_read(&t), TALK_EOF); /* no request: the server closes by itself */
    talk_close(&t);
    stop(server);
    quick(&o);
    o.close_each = true;
    server = start(&o);
    assert_int_equal(talk_once(&t, mock_port(server), "/v1/completions", body), TALK_DONE);
    assert_false(t.keep_alive);
    assert_int_equal(talk_read(&t), TALK_EOF);
    talk_close(&t);
    stop(server);
}

static void test_slow_headers_stop_in_the_first_line(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    char start_of_line[9];
    quick(&o);
    o.slow_headers_ns = 30 * NS_PER_MS;
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    uint64_t before = clock_mono_ns();
    talk_post(&t, "/v1/completions", body);
    assert_int_equal(recv(t.fd, start_of_line, 9, MSG_WAITALL), 9);
    assert_memory_equal(start_of_line, "HTTP/1.1 ", 9);
    http1_feed(&t.http, sv_make(start_of_line, 9));
    struct sv none;
    assert_int_equal(http1_next(&t.http, &none), HTTP1_NEED_MORE);
    char more[1];
    assert_int_equal(recv(t.fd, more, 1, MSG_PEEK), 1);
    assert_true(clock_mono_ns() - before >= 30 * NS_PER_MS);
    talk_close(&t);
    stop(server);
}

/* 20,000 tokens of 1,000 bytes are far more than the socket holds; another client is served meanwhile. */
static void test_a_client_that_does_not_read_holds_nobody_up(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk slow, other;
    quick(&o);
    o.ttft_ns = o.itl_ns = 0;
    o.text_bytes = 1000;
    struct mock_server *server = start(&o);
    talk_open(&slow, mock_port(server));
    talk_post(&slow, "/v1/completions", "{\"prompt\":[1],\"max_tokens\":20000,\"stream\":true}");
    usleep(20000);
    assert_int_equal(talk_once(&other, mock_port(server), "/v1/completions", body), TALK_DONE);
    assert_int_equal(talk_count(&other, "\"text\":\""), 8);
    talk_close(&other);
    assert_int_equal(talk_read(&slow), TALK_DONE);
    assert_int_equal(talk_count(&slow, "\"text\":\""), 20000);
    talk_close(&slow);
    stop(server);
}

static void test_refused_requests_are_answered_before_the_connection_ends(void **state)
{
    (void)state;
    struct mock_options o;
    struct talk t;
    quick(&o);
    struct mock_server *server = start(&o);
    talk_open(&t, mock_port(server));
    talk_send(&t, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nbody that nobody reads");
    assert_int_equal(talk_read(&t), TALK_DONE);
    assert_int_equal(t.status, 501);
    assert_false(t.keep_alive);
    talk_close(&t);
    stop(server);
}

static void test_a_port_in_use_is_an_error_with_its_number(void **state)
{
    (void)state;
    struct mock_options o;
    struct error err = {0};
    quick(&o);
    struct mock_server *server = start(&o);
    struct mock_options second = o;
    second.port = mock_port(server);
    assert_null(mock_start(&second, &err));
    assert_int_equal(err.code, E_NETWORK);
    assert_non_null(strstr(err.message, "cannot listen on '127.0.0.1' port "));
    stop(server);
}

static void test_a_spawned_server_serves_and_ends(void **state)
{
    (void)state;
    struct mock_options o;
    struct error err;
    struct talk t;
    pid_t pid = 0;
    uint16_t port = 0;
    quick(&o);
    assert_true(mock_spawn(&o, &pid, &port, &err));
    assert_int_equal(talk_once(&t, port, "/v1/completions", body), TALK_DONE);
    assert_int_equal(talk_count(&t, "\"text\":\""), 8);
    talk_close(&t);
    mock_reap(pid);
    o.host = "256.0.0.1.invalid";
    assert_false(mock_spawn(&o, &pid, &port, &err));
    assert_non_null(strstr(err.message, "mock server: cannot resolve"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_spawned_server_serves_and_ends), /* first: no thread exists yet */
        cmocka_unit_test(test_events_are_due_on_an_absolute_schedule),
        cmocka_unit_test(test_truth_is_there_as_soon_as_the_answer_is_read),
        cmocka_unit_test(test_truth_file_is_written_at_the_end),
        cmocka_unit_test(test_requests_beyond_the_batch_wait),
        cmocka_unit_test(test_a_larger_batch_is_slower),
        cmocka_unit_test(test_dropped_streams_end_or_reset_after_their_tokens),
        cmocka_unit_test(test_error_status_and_not_ready_are_json_errors),
        cmocka_unit_test(test_garbage_and_error_events_stand_inside_the_stream),
        cmocka_unit_test(test_a_stalled_stream_keeps_silent_until_the_client_leaves),
        cmocka_unit_test(test_idle_and_single_use_connections_are_closed),
        cmocka_unit_test(test_slow_headers_stop_in_the_first_line),
        cmocka_unit_test(test_a_client_that_does_not_read_holds_nobody_up),
        cmocka_unit_test(test_refused_requests_are_answered_before_the_connection_ends),
        cmocka_unit_test(test_a_port_in_use_is_an_error_with_its_number),
    };
    return cmocka_run_group_tests_name("mock_behaviour", tests, NULL, NULL);
}

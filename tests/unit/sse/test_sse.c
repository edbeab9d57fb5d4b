/* The event stream reader: fixed streams give the events written here, however the stream is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sse/sse.h"

#include <stdlib.h>

/* Events as text: "name|data;" each; blanks at the end of data do not count, and an event that replaces the one before
 * it takes its place (both differ only by early delivery). */
struct log {
    struct buf text;
    size_t last;
    size_t events;
};

static void log_event(struct log *log, const struct sse_event *event)
{
    if (event->replaces)
        log->text.len = log->last;
    log->last = log->text.len;
    log->events++;
    buf_add(&log->text, event->name);
    buf_add_char(&log->text, '|');
    size_t end = event->data.len;
    while (end > 0 && (event->data.ptr[end - 1] == ' ' || event->data.ptr[end - 1] == '\t'))
        end--;
    buf_add(&log->text, sv_make(event->data.ptr, end));
    buf_add_char(&log->text, ';');
}

static enum sse_result drain(struct sse *p, struct log *log)
{
    for (;;) {
        struct sse_event event;
        enum sse_result result = sse_next(p, &event);
        if (result != SSE_EVENT)
            return result;
        log_event(log, &event);
    }
}

/* Every block lies in memory of its own that is gone before the next one: a stale view is an error a sanitizer sees. */
static enum sse_result feed(struct sse *p, struct sv block, struct log *log)
{
    if (block.len == 0)
        return SSE_NEED_MORE;
    char *copy = mem_alloc(block.len);
    memcpy(copy, block.ptr, block.len);
    sse_feed(p, sv_make(copy, block.len));
    enum sse_result result = drain(p, log);
    free(copy);
    return result;
}

static void finish(struct sse *p, struct log *log)
{
    sse_end(p);
    assert_int_equal(drain(p, log), SSE_NEED_MORE);
}

struct row {
    const char *what;
    const char *stream;
    const char *events;
};

static const struct row rows[] = {
    {"LF", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\n", "|{\"a\":1};|{\"a\":2};"},
    {"CRLF", "data: {\"a\":1}\r\n\r\ndata: {\"a\":2}\r\n\r\n", "|{\"a\":1};|{\"a\":2};"},
    {"CR", "data: {\"a\":1}\r\rdata: x\r\r", "|{\"a\":1};|x;"},
    {"mixed line ends", "data: a\r\n\ndata: b\n\r\n\rdata: c\r\n\r", "|a;|b;|c;"},
    {"no blank after the colon", "data:{\"a\":1}\n\ndata:[DONE]\n\n", "|{\"a\":1};|[DONE];"},
    {"only one blank is taken", "data:  x\n\ndata: \ty\n\n", "| x;|\ty;"},
    {"comments", ": ping\n\n:\n\ndata: 1\n: inside\n\n:data: 2\n\n", "|1;"},
    {"id, retry and unknown fields", "id: 7\nretry: 10\nfoo: bar\ndata: 1\ndatax: 2\n\n", "|1;"},
    {"data lines are joined", "data: a\ndata: b\ndata\ndata: c\n\n", "|a\nb\n\nc;"},
    {"WHATWG example with empty data", "data\n\ndata\ndata\n\ndata:", "|;|\n;|;"},
    {"joined JSON", "data: {\"a\":\ndata: [1,\ndata: 2]}\n\n", "|{\"a\":\n[1,\n2]};"},
    {"event names", "event: error\ndata: {\"m\":1}\n\ndata: 2\n\n", "error|{\"m\":1};|2;"},
    {"name behind data", "data: {\"m\":\nevent: e\ndata: 1}\n\n", "e|{\"m\":\n1};"},
    {"the last name counts", "event: a\nevent:b\ndata: 1\n\n", "b|1;"},
    {"a name without data gives nothing", "event: a\n\ndata: 1\n\n", "|1;"},
    {"an empty name resets", "event: a\nevent\ndata: 1\n\n", "|1;"},
    {"BOM",
     "\xef\xbb\xbf"
     "data: 1\n\n",
     "|1;"},
    {"BOM only at the start",
     "data: 1\n\n\xef\xbb\xbf"
     "data: 2\n\n",
     "|1;"},
    {"half a BOM is an unknown field",
     "\xef\xbb"
     "data: 1\n\ndata: 2\n\n",
     "|2;"},
    {"UTF-8", "data: {\"t\":\"\xe4\xb8\xad\xf0\x9f\x99\x82\xc3\xa9\"}\n\n",
     "|{\"t\":\"\xe4\xb8\xad\xf0\x9f\x99\x82\xc3\xa9\"};"},
    {"no line end but LF and CR",
     "data: \"a\xe2\x80\xa8"
     "b\xc2\x85"
     "c\x0b"
     "d\"\n\n",
     "|\"a\xe2\x80\xa8"
     "b\xc2\x85"
     "c\x0b"
     "d\";"},
    {"brackets and quotes in strings", "data: {\"a\":\"}]\\\"}\",\"b\":{\"c\":[\"{\"]}}\n\n",
     "|{\"a\":\"}]\\\"}\",\"b\":{\"c\":[\"{\"]}};"},
    {"backslash before the quote", "data: {\"a\":\"\\\\\"}\n\n", "|{\"a\":\"\\\\\"};"},
    {"end without a blank line", "data: {\"a\":1}\n\ndata: [DONE]", "|{\"a\":1};|[DONE];"},
    {"end inside an event", "data: {\"a\":", "|{\"a\":;"},
    {"end inside a field name", "data: 1\n\ndat", "|1;"},
    {"end with a bare field name", "data", ""},
    {"missing blank line between events", "data: {\"a\":1}\ndata: {\"a\":2}\n\ndata: [DONE]\n",
     "|{\"a\":1};|{\"a\":2};|[DONE];"},
    {"missing blank line before a name", "data: {\"a\":1}\nevent: e\ndata: {\"a\":2}\n\n",
     "|{\"a\":1};e|{\"a\":2};"},
    {"name from before is not inherited", "event: e\ndata: {}\ndata: {}\n\n", "e|{};|{};"},
    {"rest of line behind complete data", "data: {\"a\":1} trailing\n\ndata: 2\n\n",
     "|{\"a\":1} trailing;|2;"},
    {"rest and more lines", "event: e\ndata: [1]]\ndata: x\n\n", "e|[1]]\nx;"},
    {"[DONE] with a rest", "data: [DONE]!\n\n", "|[DONE]!;"},
    {"blanks behind complete data", "data: {\"a\":1} \t \n\ndata: 2\n\n", "|{\"a\":1};|2;"},
    {"comment behind complete data", "data: {\"a\":1}\n: c\nid: 4\n\n\n\ndata: 2\n\n",
     "|{\"a\":1};|2;"},
    {"scalars wait for the blank line", "data: 12\n\ndata: 3\ndata: 4\n\n", "|12;|3\n4;"},
    {"empty stream", "", ""},
    {"blank lines only", "\n\r\n\r\r\n", ""},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void check(const struct row *row, struct log *log, const char *how, size_t a, size_t b)
{
    if (!sv_eq(buf_sv(&log->text), sv_from(row->events)))
        fail_msg("%s, %s %zu %zu: got '%s', wanted '%s'", row->what, how, a, b,
                 buf_cstr(&log->text), row->events);
    buf_done(&log->text);
}

static void whole_stream_gives_the_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct sse p;
        struct log log = {0};
        sse_init(&p);
        feed(&p, sv_from(rows[i].stream), &log);
        finish(&p, &log);
        check(&rows[i], &log, "whole", 0, 0);
        sse_done(&p);
    }
}

static void every_cut_in_three_gives_the_same_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct sv s = sv_from(rows[i].stream);
        struct sse p;
        sse_init(&p);
        for (size_t a = 0; a <= s.len; a++) {
            for (size_t b = a; b <= s.len; b++) {
                struct log log = {0};
                sse_reset(&p);
                feed(&p, sv_make(s.ptr, a), &log);
                feed(&p, sv_make(s.ptr + a, b - a), &log);
                feed(&p, sv_skip(s, b), &log);
                finish(&p, &log);
                check(&rows[i], &log, "cut", a, b);
            }
        }
        sse_done(&p);
    }
}

static void blocks_of_every_size_give_the_same_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct sv s = sv_from(rows[i].stream);
        for (size_t size = 1; size <= 8; size++) {
            struct sse p;
            struct log log = {0};
            sse_init(&p);
            for (size_t at = 0; at < s.len; at += size) {
                size_t len = s.len - at < size ? s.len - at : size;
                feed(&p, sv_make(s.ptr + at, len), &log);
            }
            finish(&p, &log);
            check(&rows[i], &log, "blocks of", size, 0);
            sse_done(&p);
        }
    }
}

/* Feeds blocks one by one and notes how many events had come after each: "2,0,1". */
static void check_timing(const char *const *blocks, const char *counts, const char *events)
{
    struct sse p;
    struct log log = {0};
    struct buf seen = {0};
    sse_init(&p);
    for (size_t i = 0; blocks[i] != NULL; i++) {
        size_t before = log.events;
        feed(&p, sv_from(blocks[i]), &log);
        buf_add_fmt(&seen, "%s%zu", i > 0 ? "," : "", log.events - before);
    }
    finish(&p, &log);
    assert_string_equal(buf_cstr(&seen), counts);
    assert_string_equal(buf_cstr(&log.text), events);
    buf_done(&seen);
    buf_done(&log.text);
    sse_done(&p);
}

static void complete_json_is_given_before_its_line_ends(void **state)
{
    (void)state;
    const char *a[] = {"data: {\"a\":[1", "]}", "\n", "\n", "data: [DO", "NE]", NULL};
    check_timing(a, "0,1,0,0,0,1", "|{\"a\":[1]};|[DONE];");
    const char *b[] = {"data: {}\n", "\n", "data: {}\r", "\n\r\n", "data: {}", " \n\n", NULL};
    check_timing(b, "1,0,1,0,1,0", "|{};|{};|{};");
    const char *c[] = {"event: x\ndata: {}\n: comm", "ent\nid: 1", "\n\nd", "ata: {}", NULL};
    check_timing(c, "1,0,0,1", "x|{};|{};");
}

static void unbalanced_data_is_not_given_early(void **state)
{
    (void)state;
    const char *a[] = {"data: {\"a\":\"}", "\"", "\n", "data: }\n", "\n", NULL};
    check_timing(a, "0,0,0,1,0", "|{\"a\":\"}\"\n};");
    const char *b[] = {"data: tex", "t\n", "\n", NULL};
    check_timing(b, "0,0,1", "|text;");
}

static void a_line_that_goes_on_replaces_its_early_event(void **state)
{
    (void)state;
    struct sse p;
    struct sse_event event;
    sse_init(&p);
    sse_feed(&p, SV_LIT("event: e\ndata: {\"a\":1}"));
    assert_int_equal(sse_next(&p, &event), SSE_EVENT);
    assert_false(event.replaces);
    assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    sse_feed(&p, SV_LIT(" x\n\n"));
    assert_int_equal(sse_next(&p, &event), SSE_EVENT);
    assert_true(event.replaces);
    assert_true(sv_eq(event.data, SV_LIT("{\"a\":1} x")));
    assert_true(sv_eq(event.name, SV_LIT("e")));
    assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    sse_done(&p);
}

static void an_event_inside_one_block_is_a_view_of_it(void **state)
{
    (void)state;
    struct sv block = SV_LIT("event: n\ndata: {\"a\":1}\n\n");
    struct sse p;
    struct sse_event event;
    sse_init(&p);
    sse_feed(&p, block);
    assert_int_equal(sse_next(&p, &event), SSE_EVENT);
    assert_ptr_equal(event.name.ptr, block.ptr + 7);
    assert_ptr_equal(event.data.ptr, block.ptr + 15);
    assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    assert_null(p.data.ptr);
    assert_null(p.name.ptr);
    sse_done(&p);
}

static void reset_forgets_the_stream_before(void **state)
{
    (void)state;
    struct sse p;
    struct log log = {0};
    sse_init(&p);
    feed(&p, SV_LIT("event: old\ndata: {\"a\""), &log);
    sse_reset(&p);
    feed(&p,
         SV_LIT("\xef\xbb\xbf"
                "data: 1\n\n"),
         &log);
    finish(&p, &log);
    assert_string_equal(buf_cstr(&log.text), "|1;");
    buf_done(&log.text);
    sse_done(&p);
}

static void a_dripped_event_is_read_in_linear_time(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct sse p;
    struct log log = {0};
    sse_init(&p);
    feed(&p, SV_LIT("data: {\"a\":\""), &log);
    for (size_t i = 0; i < BYTES; i++) {
        struct sse_event event;
        sse_feed(&p, SV_LIT("x"));
        assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    }
    assert_int_equal(log.events, 0);
    feed(&p, SV_LIT("\"}"), &log);
    assert_int_equal(log.events, 1);
    assert_int_equal(log.text.len, BYTES + 10);
    buf_done(&log.text);
    sse_done(&p);
}

static void an_event_over_the_limit_ends_the_stream(void **state)
{
    (void)state;
    enum { BLOCK = 1 << 20 };
    char *block = mem_alloc(BLOCK);
    memset(block, 'x', BLOCK);
    struct sse p;
    struct sse_event event;
    sse_init(&p);
    sse_feed(&p, SV_LIT("data:"));
    assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    for (size_t i = 0; i < SSE_MAX_EVENT / BLOCK; i++) {
        sse_feed(&p, sv_make(block, BLOCK));
        assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    }
    sse_feed(&p, SV_LIT("x"));
    assert_int_equal(sse_next(&p, &event), SSE_TOO_LONG);
    assert_int_equal(sse_next(&p, &event), SSE_TOO_LONG);
    /* what is skipped has no limit and needs no memory */
    sse_reset(&p);
    sse_feed(&p, SV_LIT(": "));
    assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    for (size_t i = 0; i <= SSE_MAX_EVENT / BLOCK; i++) {
        sse_feed(&p, sv_make(block, BLOCK));
        assert_int_equal(sse_next(&p, &event), SSE_NEED_MORE);
    }
    assert_null(p.data.ptr);
    sse_done(&p);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_stream_gives_the_events),
        cmocka_unit_test(every_cut_in_three_gives_the_same_events),
        cmocka_unit_test(blocks_of_every_size_give_the_same_events),
        cmocka_unit_test(complete_json_is_given_before_its_line_ends),
        cmocka_unit_test(unbalanced_data_is_not_given_early),
        cmocka_unit_test(a_line_that_goes_on_replaces_its_early_event),
        cmocka_unit_test(an_event_inside_one_block_is_a_view_of_it),
        cmocka_unit_test(reset_forgets_the_stream_before),
        cmocka_unit_test(a_dripped_event_is_read_in_linear_time),
        cmocka_unit_test(an_event_over_the_limit_ends_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

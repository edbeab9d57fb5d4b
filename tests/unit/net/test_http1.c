/* The response parser: fixed responses give the results written here, however they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "net/http1.h"

#include <stdlib.h>

/* A response as text: "<status> <k or c><body>|<rest>" when it is done (k: the connection may be used again),
 * "<status> k<body>..." while it is not, "!<problem>" when it is bad. */
struct log {
    struct buf text;
    struct buf body;
};

static enum http1_result drain(struct http1 *p, struct log *log)
{
    for (;;) {
        struct sv body = {0};
        enum http1_result result = http1_next(p, &body);
        if (result == HTTP1_HEAD)
            buf_add_fmt(&log->text, "%d %s", p->head.status, p->head.keep_alive ? "k" : "c");
        else if (result == HTTP1_BODY)
            buf_add(&log->body, body);
        else
            return result;
        if (result == HTTP1_BODY)
            assert_true(body.len > 0);
    }
}

/* Feeds the blocks between the cuts, each in memory of its own; at the end the connection closes. */
static void run(struct http1 *p, struct sv stream, const size_t *cuts, size_t count,
                struct log *log)
{
    enum http1_result result = HTTP1_NEED_MORE;
    struct buf rest = {0};
    size_t at = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t end = i < count ? cuts[i] : stream.len;
        if (end <= at)
            continue;
        char *copy = mem_alloc(end - at);
        memcpy(copy, stream.ptr + at, end - at);
        if (result == HTTP1_DONE) {
            buf_add(&rest, sv_make(copy, end - at));
        } else {
            http1_feed(p, sv_make(copy, end - at));
            result = drain(p, log);
            if (result == HTTP1_DONE)
                buf_add(&rest, http1_rest(p));
        }
        at = end;
        free(copy);
    }
    if (result == HTTP1_NEED_MORE)
        result = http1_end(p);
    if (result == HTTP1_BAD) {
        buf_reset(&log->text);
        buf_add_fmt(&log->text, "!%s", p->problem);
        assert_int_equal(drain(p, log), HTTP1_BAD);
    } else {
        assert_int_equal(result, HTTP1_DONE);
        buf_add(&log->text, buf_sv(&log->body));
        buf_add_char(&log->text, '|');
        buf_add(&log->text, buf_sv(&rest));
    }
    buf_done(&rest);
    buf_done(&log->body);
}

struct row {
    const char *what;
    const char *stream;
    const char *result;
};

#define OK            "HTTP/1.1 200 OK\r\n"
#define CHUNKED       OK "Transfer-Encoding: chunked\r\n\r\n"
#define BAD_CHUNKED   "!malformed chunked encoding"
#define BAD_LENGTH    "!malformed or contradicting Content-Length"
#define BAD_LINE      "!malformed header line"
#define BAD_STATUS    "!the answer does not begin with an HTTP/1 status line"
#define NO_LAST_CHUNK "!closed early: before the last chunk"

static const struct row rows[] = {
    {"length", OK "Content-Length: 5\r\n\r\nhello", "200 khello|"},
    {"length and rest", OK "content-length:2\r\n\r\nhiHTTP/1.1", "200 khi|HTTP/1.1"},
    {"length 0", OK "Content-Length: 0\r\n\r\n", "200 k|"},
    {"equal lengths", OK "Content-Length: 2, 2\r\nContent-Length: 02\r\n\r\nhi", "200 khi|"},
    {"lone LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "200 khi|"},
    {"mixed line ends", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\nhi", "200 khi|"},
    {"empty lines first", "\r\n\n\r\n" OK "Content-Length: 2\r\n\r\nhi", "200 khi|"},
    {"no reason", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", "404 k|"},
    {"empty reason", "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", "404 k|"},
    {"no headers", "HTTP/1.1 200 OK\r\n\r\nall", "200 call|"},
    {"until close", OK "X: y\r\n\r\nab", "200 cab|"},
    {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "200 ca|"},
    {"HTTP/1.0 keep-alive",
     "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na", "200 ka|"},
    {"HTTP/1.0 keep-alive without length", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\na",
     "200 ca|"},
    {"HTTP/1.0 chunked",
     "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked"
     "\r\n\r\n1\r\na\r\n0\r\n\r\n",
     "200 ca|"},
    {"close", OK "Connection: foo , CLOSE\r\nContent-Length: 1\r\n\r\na", "200 ca|"},
    {"chunked", CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nrest", "200 khello world|rest"},
    {"chunk sizes", CHUNKED "00000000000000000000a\r\n0123456789\r\nB\r\n0123456789a\r\n00\r\n\r\n",
     "200 k01234567890123456789a|"},
    {"extensions and trailers",
     CHUNKED "2;ext=1\r\nhi\r\n1 ; a=\"b\"\r\n!\r\n0;z\r\nX-Trace: 1\r\nY:\r\n\r\n", "200 khi!|"},
    {"chunks with lone LF", CHUNKED "2\nhi\n0\n\n", "200 khi|"},
    {"chunked in any case", OK "transfer-encoding:  Chunked \r\n\r\n0\r\n\r\n", "200 k|"},
    {"line ends in chunks", CHUNKED "4\r\n\r\n\r\n\r\n0\r\n\r\n", "200 k\r\n\r\n|"},
    {"204", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nx", "204 k|x"},
    {"304", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "304 k|"},
    {"100 first",
     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" OK
     "Content-Length: 2\r\n\r\nhi",
     "200 khi|"},
    {"odd status", "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", "999 k|"},

    {"101", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "!the server switched protocols (101)"},
    {"empty", "", "!closed early: before the answer began"},
    {"cut in the head", "HTTP/1.1 200 OK\r\nContent-", "!closed early: inside the header"},
    {"cut in the body", OK "Content-Length: 5\r\n\r\nhell",
     "!closed early: fewer bytes than Content-Length says"},
    {"cut after the head", OK "Content-Length: 5\r\n\r\n",
     "!closed early: fewer bytes than Content-Length says"},
    {"cut before the first chunk", CHUNKED, NO_LAST_CHUNK},
    {"cut in a chunk", CHUNKED "5\r\nhel", NO_LAST_CHUNK},
    {"cut behind a chunk", CHUNKED "2\r\nhi\r\n", NO_LAST_CHUNK},
    {"cut in the trailers", CHUNKED "2\r\nhi\r\n0\r\n", NO_LAST_CHUNK},
    {"length and chunked", OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "!both Transfer-Encoding and Content-Length"},
    {"lengths differ", OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", BAD_LENGTH},
    {"length list differs", OK "Content-Length: 5, 6\r\n\r\nhello", BAD_LENGTH},
    {"length empty", OK "Content-Length:\r\n\r\n", BAD_LENGTH},
    {"length signed", OK "Content-Length: +5\r\n\r\nhello", BAD_LENGTH},
    {"length over 2^64", OK "Content-Length: 18446744073709551616\r\n\r\n", BAD_LENGTH},
    {"gzip", OK "Transfer-Encoding: gzip, chunked\r\n\r\n",
     "!Transfer-Encoding other than chunked"},
    {"chunked twice", OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
     "!Transfer-Encoding other than chunked"},
    {"obs-fold", OK "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", BAD_LINE},
    {"blank before the colon", OK "X : a\r\n\r\n", BAD_LINE},
    {"no colon", OK "nonsense\r\n\r\n", BAD_LINE},
    {"no name", OK ": a\r\n\r\n", BAD_LINE},
    {"CR in a value", OK "X: a\rb\r\n\r\n", BAD_LINE},
    {"control character", OK "X: a\x01\r\n\r\n", BAD_LINE},
    {"not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", BAD_STATUS},
    {"HTTP/2", "HTTP/2 200 OK\r\n\r\n", BAD_STATUS},
    {"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", BAD_STATUS},
    {"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", BAD_STATUS},
    {"status below 100", "HTTP/1.1 099 OK\r\n\r\n", BAD_STATUS},
    {"chunk size missing", CHUNKED "\r\nhi\r\n", BAD_CHUNKED},
    {"chunk size no number", CHUNKED "g\r\n", BAD_CHUNKED},
    {"chunk size with 0x", CHUNKED "0x5\r\nhello\r\n", BAD_CHUNKED},
    {"chunk size over 2^60", CHUNKED "1000000000000000\r\n", BAD_CHUNKED},
    {"blank before the size", CHUNKED " 5\r\nhello\r\n", BAD_CHUNKED},
    {"CR without LF", CHUNKED "5\rhello", BAD_CHUNKED},
    {"CR in the extension", CHUNKED "5;a\rb\nhello", BAD_CHUNKED},
    {"chunk longer than said", CHUNKED "2\r\nhix\r\n", BAD_CHUNKED},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void check(const struct row *row, struct log *log, const char *how, size_t a, size_t b)
{
    if (!sv_eq(buf_sv(&log->text), sv_from(row->result)))
        fail_msg("%s, %s %zu %zu: got '%s', wanted '%s'", row->what, how, a, b,
                 buf_cstr(&log->text), row->result);
    buf_done(&log->text);
}

static void whole_response_gives_the_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct http1 p;
        struct log log = {0};
        http1_init(&p);
        run(&p, sv_from(rows[i].stream), NULL, 0, &log);
        check(&rows[i], &log, "whole", 0, 0);
        http1_done(&p);
    }
}

static void every_cut_in_three_gives_the_same_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct sv s = sv_from(rows[i].stream);
        for (size_t a = 0; a <= s.len; a++) {
            for (size_t b = a; b <= s.len; b++) {
                struct http1 p;
                struct log log = {0};
                size_t cuts[] = {a, b};
                http1_init(&p);
                run(&p, s, cuts, 2, &log);
                check(&rows[i], &log, "cut", a, b);
                http1_done(&p);
            }
        }
    }
}

static void single_bytes_give_the_same_result(void **state)
{
    (void)state;
    enum { LONGEST = 512 };
    size_t cuts[LONGEST];
    for (size_t i = 0; i < LONGEST; i++)
        cuts[i] = i;
    for (size_t i = 0; i < ROWS; i++) {
        struct sv s = sv_from(rows[i].stream);
        struct http1 p;
        struct log log = {0};
        assert_true(s.len < LONGEST);
        http1_init(&p);
        run(&p, s, cuts, s.len, &log);
        check(&rows[i], &log, "bytes", 0, 0);
        http1_done(&p);
    }
}

static void headers_are_found_by_name(void **state)
{
    (void)state;
    struct http1 p;
    struct sv body;
    struct sv value;
    char block[] = "HTTP/1.1 200 Fine by me \r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                   "x-a:\t1 \r\nX-A: 2\r\nEmpty:\r\nContent-Length: 7\r\n\r\n";
    http1_init(&p);
    http1_feed(&p, sv_make(block, sizeof(block) - 1));
    assert_int_equal(http1_next(&p, &body), HTTP1_HEAD);
    memset(block, 'x', sizeof(block)); /* the head must not live in the block */
    assert_true(sv_eq(p.head.reason, SV_LIT("Fine by me")));
    assert_true(http1_header(&p.head, SV_LIT("content-TYPE"), &value));
    assert_true(sv_eq(value, SV_LIT("text/event-stream; charset=utf-8")));
    assert_true(http1_header(&p.head, SV_LIT("X-A"), &value));
    assert_true(sv_eq(value, SV_LIT("1")));
    assert_true(http1_header(&p.head, SV_LIT("empty"), &value));
    assert_int_equal(value.len, 0);
    assert_false(http1_header(&p.head, SV_LIT("status"), &value));
    assert_false(http1_header(&p.head, SV_LIT("x"), &value));
    assert_true(p.head.has_length);
    assert_int_equal(p.head.content_length, 7);
    assert_false(p.head.chunked);
    http1_done(&p);
}

static void a_connection_carries_one_response_after_another(void **state)
{
    (void)state;
    struct sv stream = SV_LIT(CHUNKED "2\r\nhi\r\n0\r\nX-Trace: 1\r\n\r\n" OK
                                      "Content-Length: 3\r\n\r\nyouHTTP/1.1 204 No\r\n\r\n");
    struct http1 p;
    struct log log = {0};
    http1_init(&p);
    http1_feed(&p, stream);
    assert_int_equal(drain(&p, &log), HTTP1_DONE);
    http1_reset(&p);
    char *memory = p.text.ptr;
    assert_int_equal(drain(&p, &log), HTTP1_DONE);
    http1_reset(&p);
    assert_int_equal(drain(&p, &log), HTTP1_DONE);
    assert_int_equal(http1_next(&p, NULL), HTTP1_DONE);
    assert_int_equal(http1_rest(&p).len, 0);
    assert_ptr_equal(p.text.ptr, memory);
    assert_string_equal(buf_cstr(&log.text), "200 k200 k204 k");
    assert_string_equal(buf_cstr(&log.body), "hiyou");
    buf_done(&log.text);
    buf_done(&log.body);
    http1_done(&p);
}

static void a_response_to_head_has_no_body(void **state)
{
    (void)state;
    struct http1 p;
    struct log log = {0};
    http1_init(&p);
    http1_expect_no_body(&p);
    run(&p, SV_LIT(OK "Content-Length: 5\r\n\r\n"), NULL, 0, &log);
    assert_string_equal(buf_cstr(&log.text), "200 k|");
    buf_done(&log.text);
    http1_done(&p);
}

/* prefix, then `count` times unit, then suffix */
static void check_long(const char *prefix, const char *unit, size_t count, const char *suffix,
                       const char *result)
{
    struct http1 p;
    struct log log = {0};
    struct buf stream = {0};
    buf_add_str(&stream, prefix);
    for (size_t i = 0; i < count; i++)
        buf_add_str(&stream, unit);
    buf_add_str(&stream, suffix);
    http1_init(&p);
    run(&p, buf_sv(&stream), NULL, 0, &log);
    assert_string_equal(buf_cstr(&log.text), result);
    buf_done(&log.text);
    buf_done(&stream);
    http1_done(&p);
}

static void limits_are_kept(void **state)
{
    (void)state;
    const char *end = "\r\nContent-Length: 0\r\n\r\n";
    size_t fixed = strlen(OK "X: ") + strlen(end);
    check_long(OK "X: ", "a", HTTP1_MAX_HEAD - fixed, end, "200 k|");
    check_long(OK "X: ", "a", HTTP1_MAX_HEAD - fixed + 1, end, "!the header is longer than 64 KiB");
    check_long(OK, "A: b\r\n", HTTP1_MAX_HEAD, "", "!the header is longer than 64 KiB");
    check_long(CHUNKED "0;", "a", 1000, "\r\n\r\n", "200 k|");
    check_long(CHUNKED "0;", "a", 1023, "\r\n\r\n", "!a chunk-size line is longer than 1 KiB");
    check_long(CHUNKED, "0", 1025, "", "!a chunk-size line is longer than 1 KiB");
    check_long(CHUNKED "0\r\n", "A: b\r\n", 10000, "\r\n", "200 k|");
    check_long(CHUNKED "0\r\n", "A: b\r\n", HTTP1_MAX_HEAD / 6 + 1, "",
               "!the trailers are longer than 64 KiB");
    check_long("", "HTTP/1.1 100 Go\r\n\r\n", 100, OK "Content-Length: 0\r\n\r\n", "200 k|");
    check_long("", "HTTP/1.1 100 Go\r\n\r\n", 101, "", "!too many interim (1xx) responses");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_response_gives_the_result),
        cmocka_unit_test(every_cut_in_three_gives_the_same_result),
        cmocka_unit_test(single_bytes_give_the_same_result),
        cmocka_unit_test(headers_are_found_by_name),
        cmocka_unit_test(a_connection_carries_one_response_after_another),
        cmocka_unit_test(a_response_to_head_has_no_body),
        cmocka_unit_test(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

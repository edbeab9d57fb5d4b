/* The request parser: fixed requests give the values written here, however they are cut; limits and malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "mock/request.h"

/* Feeds a block from memory of its own, answering "100 Continue" silently; *rest gets what was not used. */
static enum mock_request_result feed(struct mock_request *r, struct sv block, size_t *rest,
                                     int *continues)
{
    char *copy = mem_alloc(block.len + 1);
    memcpy(copy, block.ptr, block.len);
    struct sv left = sv_make(copy, block.len);
    enum mock_request_result result;
    do {
        size_t used = 0;
        result = mock_request_feed(r, left, &used);
        assert_true(used <= left.len);
        left = sv_skip(left, used);
        *continues += result == MOCK_REQUEST_CONTINUE;
    } while (result == MOCK_REQUEST_CONTINUE);
    *rest = left.len;
    free(copy);
    return result;
}

struct expected {
    const char *text;
    const char *method, *path, *query, *body, *id;
    bool keep_alive;
    int continues;
};

static const struct expected good[] = {
    {"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/health", "", "", NULL, true, 0},
    {"GET /m?a=1&b=2 HTTP/1.1\nHost: x\n\n", "GET", "/m", "a=1&b=2", "", NULL, true, 0},
    {"\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET", "/", "", "", NULL, true, 0},
    {"POST /v1 HTTP/1.1\r\ncontent-length: 5\r\nX-Request-ID:  my-7 \r\n\r\nhello", "POST", "/v1",
     "", "hello", "my-7", true, 0},
    {"POST /v1 HTTP/1.1\r\nConnection: foo, Close\r\nContent-Length: 0\r\n\r\n", "POST", "/v1", "",
     "", NULL, false, 0},
    {"GET / HTTP/1.0\r\n\r\n", "GET", "/", "", "", NULL, false, 0},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET", "/", "", "", NULL, true, 0},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\nA;x=\"y\"\r\n, chunked!\r\n0\r\nTrailer: 1\r\n\r\n",
     "POST", "/", "", "hello, chunked!", NULL, true, 0},
    {"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok", "POST", "/", "",
     "ok", NULL, true, 1},
    {"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n\r\n\r", "POST", "/", "",
     "\r\n\r", NULL, true, 0},
};

static void check_ready(const struct mock_request *r, const struct expected *e)
{
    assert_true(sv_eq(r->method, sv_from(e->method)));
    assert_true(sv_eq(r->path, sv_from(e->path)));
    assert_true(sv_eq(r->query, sv_from(e->query)));
    assert_true(sv_eq(mock_request_body(r), sv_from(e->body)));
    assert_int_equal(r->keep_alive, e->keep_alive);
    assert_int_equal(r->request_id.ptr != NULL, e->id != NULL);
    if (e->id != NULL)
        assert_true(sv_eq(r->request_id, sv_from(e->id)));
}

static void test_split_at_every_point_gives_the_same_request(void **state)
{
    (void)state;
    struct mock_request r;
    mock_request_init(&r);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct sv text = sv_from(good[i].text);
        for (size_t cut = 0; cut <= text.len; cut++) {
            size_t rest = 0;
            int continues = 0;
            enum mock_request_result result = feed(&r, sv_make(text.ptr, cut), &rest, &continues);
            if (cut < text.len) {
                assert_int_equal(result, MOCK_REQUEST_MORE);
                result = feed(&r, sv_skip(text, cut), &rest, &continues);
            }
            assert_int_equal(result, MOCK_REQUEST_READY);
            assert_int_equal(rest, 0);
            assert_int_equal(continues, good[i].continues);
            check_ready(&r, &good[i]);
            mock_request_reset(&r);
            assert_true(mock_request_is_empty(&r));
        }
    }
    mock_request_done(&r);
}

static void test_single_bytes_give_the_same_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct mock_request r;
        struct sv text = sv_from(good[i].text);
        int continues = 0;
        mock_request_init(&r);
        for (size_t at = 0; at < text.len; at++) {
            size_t rest = 0;
            enum mock_request_result result =
                feed(&r, sv_make(text.ptr + at, 1), &rest, &continues);
            assert_int_equal(result, at + 1 < text.len ? MOCK_REQUEST_MORE : MOCK_REQUEST_READY);
        }
        check_ready(&r, &good[i]);
        mock_request_done(&r);
    }
}

static void test_pipelined_rest_is_left_alone(void **state)
{
    (void)state;
    struct mock_request r;
    size_t rest = 0;
    int continues = 0;
    mock_request_init(&r);
    struct sv text =
        SV_LIT("POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nxGET /b HTTP/1.1\r\n\r\n");
    assert_int_equal(feed(&r, text, &rest, &continues), MOCK_REQUEST_READY);
    assert_int_equal(rest, strlen("GET /b HTTP/1.1\r\n\r\n"));
    mock_request_reset(&r);
    assert_int_equal(feed(&r, sv_skip(text, text.len - rest), &rest, &continues),
                     MOCK_REQUEST_READY);
    assert_true(sv_eq(r.path, SV_LIT("/b")));
    mock_request_done(&r);
}

static void test_malformed_requests_are_refused_with_their_status(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"GET\r\n\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"G\x01T / HTTP/1.1\r\n\r\n", 400},
        {"GET /a b HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\n\r\n", 505},
        {"GET / FTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nname : x\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\na: b\r\n folded\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n", 413},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n", 413},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mock_request r;
        size_t rest = 0;
        int continues = 0;
        mock_request_init(&r);
        assert_int_equal(feed(&r, sv_from(rows[i].text), &rest, &continues), MOCK_REQUEST_BAD);
        assert_int_equal(r.status, rows[i].status);
        assert_non_null(r.problem);
        assert_int_equal(feed(&r, SV_LIT("GET / HTTP/1.1\r\n\r\n"), &rest, &continues),
                         MOCK_REQUEST_BAD);
        mock_request_done(&r);
    }
}

/* `piece` again and again behind `start`, until the parser says something else than MORE. */
static int status_of_endless(const char *start, struct sv piece, size_t most)
{
    struct mock_request r;
    size_t rest = 0;
    int continues = 0;
    mock_request_init(&r);
    enum mock_request_result result = feed(&r, sv_from(start), &rest, &continues);
    for (size_t fed = 0; result == MOCK_REQUEST_MORE && fed < most; fed += piece.len)
        result = feed(&r, piece, &rest, &continues);
    int status = result == MOCK_REQUEST_BAD ? r.status : 0;
    mock_request_done(&r);
    return status;
}

static void test_endless_heads_lines_and_trailers_are_cut_off(void **state)
{
    (void)state;
    assert_int_equal(status_of_endless("GET / HTTP/1.1\r\n", SV_LIT("name: value\r\n"), 1 << 20),
                     431);
    assert_int_equal(status_of_endless("GET /", SV_LIT("aaaaaaaaaaaaaaaa"), 1 << 20), 431);
    const char *chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_int_equal(status_of_endless(chunked, SV_LIT("0000000000000000"), 1 << 20), 400);
    char with_trailer[200];
    snprintf(with_trailer, sizeof(with_trailer), "%s0\r\n", chunked);
    assert_int_equal(status_of_endless(with_trailer, SV_LIT("name: value\r\n"), 1 << 20), 431);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_at_every_point_gives_the_same_request),
        cmocka_unit_test(test_single_bytes_give_the_same_request),
        cmocka_unit_test(test_pipelined_rest_is_left_alone),
        cmocka_unit_test(test_malformed_requests_are_refused_with_their_status),
        cmocka_unit_test(test_endless_heads_lines_and_trailers_are_cut_off),
    };
    return cmocka_run_group_tests_name("mock_request", tests, NULL, NULL);
}

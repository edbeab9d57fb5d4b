/* The data of the timeline's page, packed and thinned, and that nothing from outside becomes markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "fixture.h"
#include "json/tree.h"
#include "report/page_files.h"
#include "report/timeline.h"

static struct fixture f;
static struct arena arena;
static struct timeline t;
static struct buf text;

static int setup(void **state)
{
    (void)state;
    fixture_begin(&f);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    timeline_done(&t);
    fixture_end(&f);
    arena_done(&arena);
    buf_done(&text);
    return 0;
}

static const struct js_value *data(const struct timeline_talks *talks, size_t rows, size_t numbers)
{
    struct error err;
    timeline_done(&t);
    timeline_make(&f.report, talks, rows, numbers, &t);
    buf_reset(&text);
    timeline_data(&t, &text);
    assert_null(memchr(text.ptr, '<', text.len));
    const struct js_value *tree = js_parse(&arena, buf_sv(&text), "the data", &err);
    assert_non_null(tree);
    return tree;
}

/* The column as "1,2,3". */
static const char *column(const struct js_value *tree, const char *name)
{
    static char out[200];
    size_t len = 0;
    const struct js_value *list = js_get(tree, name);
    assert_non_null(list);
    for (size_t i = 0; i < list->count; i++) {
        double value;
        assert_true(js_as_double(js_at(list, i), &value));
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%.0f", i > 0 ? "," : "", value);
    }
    return out;
}

/* The 16-bit words of one request's tokens. */
static size_t words(const struct js_value *tree, size_t row, unsigned *out)
{
    struct sv packed;
    struct buf bytes = {0};
    assert_true(js_as_sv(js_at(js_get(tree, "tokens"), row), &packed));
    assert_true(base64_read(&bytes, packed));
    size_t count = bytes.len / 2;
    for (size_t i = 0; i < count; i++)
        out[i] = (unsigned char)bytes.ptr[2 * i] + 256u * (unsigned char)bytes.ptr[2 * i + 1];
    buf_done(&bytes);
    return count;
}

/* Request 0: tokens at 0.25, 0.5, 1.0 s.  250,000 us are 3 * 65536 + 53392, 500,000 us are 7 * 65536 + 41248. */
static void test_times_are_microseconds_from_the_first_start(void **state)
{
    (void)state;
    unsigned w[16];
    for (size_t i = 0; i < 3; i++)
        f.records[i].start_ns += NS_PER_S / 8;
    const struct js_value *tree = data(NULL, 100, 100);
    assert_string_equal(column(tree, "number"), "0,1,2");
    assert_string_equal(column(tree, "start"), "0,125000,250000");
    assert_string_equal(column(tree, "first"), "125000,-1,375000");
    assert_string_equal(column(tree, "end"), "875000,0,425000");
    assert_string_equal(column(tree, "prompt"), "27,30,30");
    assert_string_equal(column(tree, "output"), "6,0,0");
    assert_string_equal(column(tree, "state"), "0,1,1");
    assert_string_equal(column(tree, "limits"), "25000,50000");
    assert_int_equal(words(tree, 0, w), 6);
    assert_true(w[0] == 65535 && w[1] == 53392 && w[2] == 3);
    assert_true(w[3] == 65535 && w[4] == 41248 && w[5] == 7);
    assert_int_equal(words(tree, 1, w), 0);
    assert_int_equal(words(tree, 2, w), 0);
    assert_int_equal(t.span_us, 875000);
    assert_int_equal(t.with_token, 2);
    assert_int_equal(t.failed, 2);
    assert_int_equal(t.intervals[FROM_SECOND], 2);
}

static void add_events(struct record *r, const uint64_t *gaps_ns, size_t count)
{
    uint64_t at = r->start_ns;
    for (size_t i = 0; i < count; i++) {
        at += gaps_ns[i];
        record_event(r, &f.slab, at);
    }
    r->end_ns = at;
}

static struct record *fresh(uint64_t start_ns)
{
    struct record *r = &f.records[0];
    record_init(r);
    r->start_ns = start_ns;
    r->sent = r->done = true;
    f.report.count = 1;
    return r;
}

/* Roundings do not add up: gaps of 1.4 us show as 1, 2, 1, 2, 1. */
static void test_rounding_does_not_drift(void **state)
{
    (void)state;
    static const uint64_t gaps[] = {1400, 1400, 1400, 1400, 1400, 1400};
    unsigned w[16];
    add_events(fresh(5000), gaps, 6);
    const struct js_value *tree = data(NULL, 100, 100);
    assert_string_equal(column(tree, "first"), "1");
    assert_int_equal(words(tree, 0, w), 5);
    /* 1.4 2.8 4.2 5.6 7.0 8.4 are shown at 1 3 4 6 7 8 */
    assert_true(w[0] == 2 && w[1] == 1 && w[2] == 2 && w[3] == 1 && w[4] == 1);
}

/* Python: below the first limit, below the second, from the second on. */
static void test_limits_colour_as_in_python(void **state)
{
    (void)state;
    static const uint64_t gaps[] = {9,        24999999, 25000000, 49999999,
                                    50000000, 65534000, 65535000, 1};
    unsigned w[16];
    add_events(fresh(5000), gaps, 8);
    const struct js_value *tree = data(NULL, 100, 100);
    assert_int_equal(t.intervals[BELOW_FIRST], 2);
    assert_int_equal(t.intervals[BETWEEN], 2);
    assert_int_equal(t.intervals[FROM_SECOND], 3);
    assert_int_equal(words(tree, 0, w), 9);
    assert_true(w[4] == 65534);
    assert_true(w[5] == 65535 && w[6] == 65535 && w[7] == 0 && w[8] == 0); /* the escape */
}

/* Seven intervals, room for five numbers: groups of four hold the sum and the longest. */
static void test_too_many_tokens_are_joined_and_the_page_says_so(void **state)
{
    (void)state;
    static const uint64_t gaps[] = {1000000, 1000000, 2000000,  3000000,
                                    4000000, 5000000, 30000000, 6000000};
    unsigned w[16];
    add_events(fresh(5000), gaps, 8);
    const struct js_value *tree = data(NULL, 100, 5);
    assert_int_equal(t.group, 4);
    assert_int_equal(words(tree, 0, w), 4);
    assert_true(w[0] == 10000 && w[1] == 4000 && w[2] == 41000 && w[3] == 30000);
    assert_int_equal(t.intervals[BELOW_FIRST], 6); /* counts stay those of single ones */
    assert_int_equal(t.intervals[BETWEEN], 1);
    buf_reset(&text);
    timeline_page(&t, &text);
    assert_non_null(strstr(buf_cstr(&text), "a bar stands for up to 4 in a row"));
}

static void test_too_many_requests_are_thinned_and_the_page_says_so(void **state)
{
    (void)state;
    const struct js_value *tree = data(NULL, 2, 100);
    assert_string_equal(column(tree, "number"), "0,2");
    buf_reset(&text);
    timeline_page(&t, &text);
    assert_non_null(strstr(buf_cstr(&text), "One request of 2 is drawn: 2 of 3."));
    f.records[0].sent = false;
    tree = data(NULL, 2, 100);
    assert_string_equal(column(tree, "number"), "1,2"); /* those that were not sent are left out */
    assert_int_equal(t.every, 1);
}

static void test_turns_are_counted_from_one(void **state)
{
    (void)state;
    static const size_t owner[] = {0, 1, 1};
    static const size_t first[] = {0, 1};
    struct timeline_talks talks = {owner, first};
    const struct js_value *tree = data(&talks, 100, 100);
    assert_string_equal(column(tree, "owner"), "0,1,1");
    assert_string_equal(column(tree, "turn"), "1,1,2");
    buf_reset(&text);
    timeline_page(&t, &text);
    assert_non_null(strstr(buf_cstr(&text), "<td>Conv 1, turn 2</td>"));
}

static void test_nothing_from_outside_becomes_markup(void **state)
{
    (void)state;
    struct sv value;
    f.config.api_key = "sk-secret";
    f.report.model_id = "a<b>&\"c\"";
    f.config.label = "<i>x";
    f.records[1].error = SV_LIT("HTTP 400: </script><script>alert(1)</script> sk-secret & \xff");
    const struct js_value *tree = data(NULL, 100, 100);
    assert_string_equal(column(tree, "error"), "-1,0,1");
    assert_true(js_as_sv(js_at(js_get(tree, "errors"), 0), &value));
    assert_true(
        sv_eq(value, SV_LIT("HTTP 400: </script><script>alert(1)</script> *** & \xef\xbf\xbd")));
    assert_true(js_as_sv(js_at(js_get(tree, "errors"), 1), &value));
    assert_true(sv_eq(value, SV_LIT("closed_early")));
    buf_reset(&text);
    timeline_page(&t, &text);
    const char *page = buf_cstr(&text);
    assert_null(strstr(page, "sk-secret"));
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "<i>x"));
    assert_non_null(strstr(page, "<h1>Timeline of a&lt;b&gt;&amp;&quot;c&quot;</h1>"));
    assert_non_null(strstr(
        page, "failed: HTTP 400: &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; *** &amp;"));
    assert_null(strstr(page, "{{"));
}

/* No address of anything outside, and a policy that forbids it. */
static void test_the_page_needs_no_network(void **state)
{
    (void)state;
    timeline_make(&f.report, NULL, 100, 100, &t);
    timeline_page(&t, &text);
    const char *page = buf_cstr(&text);
    assert_null(strstr(page, "://"));
    assert_null(strstr(page, " src="));
    assert_null(strstr(page, " href="));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url("));
    assert_non_null(strstr(page, "default-src 'none'"));
    /* the embedded script must not hold what ends its element */
    struct sv script = page_script();
    assert_null(memmem(script.ptr, script.len, "</", 2));
}

/* An open end: cut off by the end of the run.  Long errors are cut between characters. */
static void test_unfinished_requests_are_open(void **state)
{
    (void)state;
    char *longer = mem_alloc(1000);
    memset(longer, 'a', 399);
    memset(longer + 399, '\xc3', 601);
    longer[400] = '\xa4';
    f.records[1].failure = FAILURE_UNFINISHED;
    f.records[2].done = false;
    f.records[0].failure = FAILURE_HTTP_STATUS;
    f.records[0].error = sv_make(longer, 1000);
    const struct js_value *tree = data(NULL, 100, 100);
    assert_string_equal(column(tree, "state"), "1,2,2");
    struct sv value;
    assert_true(js_as_sv(js_at(js_get(tree, "errors"), 0), &value));
    assert_int_equal(value.len, 399 + 4);
    assert_memory_equal(value.ptr + 399, " \xe2\x80\xa6", 4);
    assert_true(js_as_sv(js_at(js_get(tree, "errors"), 2), &value));
    assert_true(sv_eq(value, SV_LIT("interrupted")));
    free(longer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_times_are_microseconds_from_the_first_start),
        TEST(test_rounding_does_not_drift),
        TEST(test_limits_colour_as_in_python),
        TEST(test_too_many_tokens_are_joined_and_the_page_says_so),
        TEST(test_too_many_requests_are_thinned_and_the_page_says_so),
        TEST(test_turns_are_counted_from_one),
        TEST(test_nothing_from_outside_becomes_markup),
        TEST(test_the_page_needs_no_network),
        TEST(test_unfinished_requests_are_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

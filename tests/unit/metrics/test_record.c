/* Tests of src/metrics/record: gaps come back as they went in, across blocks and beyond 32 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "metrics/record.h"

#include <math.h>
#include <stdlib.h>

static void test_new_record_knows_nothing(void **state)
{
    (void)state;
    struct record r;
    struct record_cursor c;
    uint64_t gap;
    record_init(&r);
    assert_int_equal(r.events, 0);
    assert_int_equal(r.usage_prompt_tokens, -1);
    assert_int_equal(r.usage_completion_tokens, -1);
    assert_int_equal(r.usage_cached_tokens, -1);
    assert_int_equal(r.text_tokens, -1);
    assert_true(isnan(r.server_queue_s) && isnan(r.server_ttft_s));
    assert_false(record_ok(&r));
    record_gaps_begin(&r, &c);
    assert_false(record_gaps_next(&c, &gap));
}

static void test_one_event_has_no_gap(void **state)
{
    (void)state;
    struct record_slab slab = {0};
    struct record r;
    struct record_cursor c;
    uint64_t gap;
    record_init(&r);
    record_event(&r, &slab, 1234);
    assert_int_equal(r.events, 1);
    assert_int_equal(r.first_ns, 1234);
    assert_int_equal(r.last_ns, 1234);
    record_gaps_begin(&r, &c);
    assert_false(record_gaps_next(&c, &gap));
    assert_null(slab.chunks); /* and takes no memory */
    record_slab_done(&slab);
}

/* Feeds the gaps as events and reads them back. */
static void check_gaps(struct record_slab *slab, const uint64_t *gaps, size_t count)
{
    struct record r;
    struct record_cursor c;
    uint64_t now = 1000, gap;
    record_init(&r);
    record_event(&r, slab, now);
    for (size_t i = 0; i < count; i++) {
        now += gaps[i];
        record_event(&r, slab, now);
    }
    assert_int_equal(r.events, count + 1);
    assert_int_equal(r.first_ns, 1000);
    assert_int_equal(r.last_ns, now);
    record_gaps_begin(&r, &c);
    for (size_t i = 0; i < count; i++) {
        assert_true(record_gaps_next(&c, &gap));
        assert_int_equal(gap, gaps[i]);
    }
    assert_false(record_gaps_next(&c, &gap));
    assert_false(record_gaps_next(&c, &gap));
}

static void test_any_number_of_gaps_comes_back(void **state)
{
    (void)state;
    enum { MOST = 200 };
    uint64_t gaps[MOST];
    struct record_slab slab = {0};
    for (size_t i = 0; i < MOST; i++)
        gaps[i] = i * i * 1000;
    for (size_t count = 0; count <= MOST; count++)
        check_gaps(&slab, gaps, count);
    record_slab_done(&slab);
}

static void test_long_gaps_come_back_at_every_place_of_a_block(void **state)
{
    (void)state;
    static const uint64_t edges[] = {
        UINT32_MAX - 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_C(0x123456789abcdef), 0,
        /* around where the words for token counts begin */
        UINT64_C(0xfffeffff), UINT64_C(0xffff0000), UINT64_C(0xffff0001)};
    enum { MOST = 140 };
    uint64_t gaps[MOST];
    struct record_slab slab = {0};
    for (size_t at = 0; at + 3 < MOST; at++) {
        for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++) {
            for (size_t i = 0; i < MOST; i++)
                gaps[i] = i;
            gaps[at] = edges[e];
            gaps[at + 1] = edges[e];
            check_gaps(&slab, gaps, MOST);
        }
    }
    record_slab_done(&slab);
}

static void test_random_gaps_of_many_records_interleaved(void **state)
{
    (void)state;
    enum { RECORDS = 50, EVENTS = 1000 };
    struct record_slab slab = {0};
    struct record *r = mem_array(RECORDS, sizeof(*r));
    uint64_t *expected = mem_array(RECORDS * EVENTS, sizeof(*expected));
    struct pcg64 g;
    pcg64_seed(&g, 2);
    for (size_t i = 0; i < RECORDS; i++)
        record_init(&r[i]);
    for (size_t e = 0; e < EVENTS; e++) {
        for (size_t i = 0; i < RECORDS; i++) {
            uint64_t gap = pcg64_u64(&g) >> (24 + pcg64_u32(&g) % 32);
            expected[i * EVENTS + e] = gap;
            record_event(&r[i], &slab, r[i].last_ns + gap);
        }
    }
    for (size_t i = 0; i < RECORDS; i++) {
        struct record_cursor c;
        uint64_t gap;
        record_gaps_begin(&r[i], &c);
        for (size_t e = 1; e < EVENTS; e++) {
            assert_true(record_gaps_next(&c, &gap));
            assert_int_equal(gap, expected[i * EVENTS + e]);
        }
        assert_false(record_gaps_next(&c, &gap));
    }
    free(r);
    free(expected);
    record_slab_done(&slab);
}

static void test_a_stamp_before_the_last_counts_as_the_same_instant(void **state)
{
    (void)state;
    struct record_slab slab = {0};
    struct record r;
    struct record_cursor c;
    uint64_t gap;
    record_init(&r);
    record_event(&r, &slab, 100);
    record_event(&r, &slab, 90);
    record_event(&r, &slab, 130);
    assert_int_equal(r.last_ns, 130);
    record_gaps_begin(&r, &c);
    assert_true(record_gaps_next(&c, &gap) && gap == 0);
    assert_true(record_gaps_next(&c, &gap) && gap == 30);
    record_slab_done(&slab);
}

/* Tokens and gaps of every kind, at every place of a block. */
static void test_token_counts_come_back_with_their_gaps(void **state)
{
    (void)state;
    enum { MOST = 200 };
    static const uint64_t TOKENS[] = {1, 4, 0, 1, 65534, 2, 1};
    static const uint64_t GAPS[] = {5, UINT64_C(0xffff0000), 0, 7, UINT64_C(5000000000)};
    for (size_t shift = 0; shift < 35; shift++) {
        struct record_slab slab = {0};
        struct record r;
        struct record_cursor c;
        uint64_t now = 1000, gap;
        int64_t running = 3;
        record_init(&r);
        record_event_counted(&r, &slab, now, running);
        for (size_t i = 0; i < MOST; i++) {
            now += GAPS[(i + shift) % 5];
            running += (int64_t)TOKENS[(i + shift) % 7];
            record_event_counted(&r, &slab, now, running);
        }
        assert_int_equal(r.events, MOST + 1);
        assert_int_equal(r.counted_events, MOST + 1);
        assert_int_equal(r.first_tokens, 3);
        assert_int_equal(r.running_tokens, running);
        record_gaps_begin(&r, &c);
        for (size_t i = 0; i < MOST; i++) {
            assert_true(record_gaps_next(&c, &gap));
            assert_int_equal(gap, GAPS[(i + shift) % 5]);
            assert_int_equal(c.tokens, TOKENS[(i + shift) % 7]);
        }
        assert_false(record_gaps_next(&c, &gap));
        record_slab_done(&slab);
    }
}

static void test_counts_that_go_back_or_leap_are_not_counted(void **state)
{
    (void)state;
    struct record_slab slab = {0};
    struct record r;
    struct record_cursor c;
    uint64_t gap;
    record_init(&r);
    record_event_counted(&r, &slab, 10, 2);
    record_event_counted(&r, &slab, 20, 1);
    record_event_counted(&r, &slab, 30, INT64_MAX);
    record_event_counted(&r, &slab, 40, 5);
    assert_int_equal(r.events, 4);
    assert_int_equal(r.counted_events, 2);
    assert_int_equal(r.running_tokens, 5);
    record_gaps_begin(&r, &c);
    assert_true(record_gaps_next(&c, &gap) && c.tokens == 1);
    assert_true(record_gaps_next(&c, &gap) && c.tokens == 1);
    assert_true(record_gaps_next(&c, &gap) && c.tokens == 3 && gap == 10);
    record_slab_done(&slab);
}

static void test_slab_copies_stay_whole(void **state)
{
    (void)state;
    struct record_slab slab = {0};
    struct sv copies[300];
    char *large = mem_array(3000000, 1);
    memset(large, 'L', 3000000);
    for (size_t i = 0; i < 300; i++) {
        char text[512];
        memset(text, (int)('a' + i % 26), sizeof(text));
        copies[i] = record_slab_copy(&slab, sv_make(text, i));
        if (i % 100 == 50) { /* a piece with a chunk of its own in between */
            struct sv own = record_slab_copy(&slab, sv_make(large, 3000000));
            assert_memory_equal(own.ptr, large, 3000000);
        }
    }
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(copies[i].len, i);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(copies[i].ptr[k], 'a' + i % 26);
    }
    free(large);
    record_slab_done(&slab);
    record_slab_done(&slab);
    assert_null(slab.chunks);
}

static void test_failures_have_names(void **state)
{
    (void)state;
    assert_string_equal(failure_name(FAILURE_NONE), "none");
    assert_string_equal(failure_name(FAILURE_MALFORMED), "malformed_stream");
    assert_string_equal(failure_name(FAILURE_INTERRUPTED), "interrupted");
    assert_string_equal(failure_name(FAILURE_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_record_knows_nothing),
        cmocka_unit_test(test_one_event_has_no_gap),
        cmocka_unit_test(test_any_number_of_gaps_comes_back),
        cmocka_unit_test(test_long_gaps_come_back_at_every_place_of_a_block),
        cmocka_unit_test(test_random_gaps_of_many_records_interleaved),
        cmocka_unit_test(test_a_stamp_before_the_last_counts_as_the_same_instant),
        cmocka_unit_test(test_token_counts_come_back_with_their_gaps),
        cmocka_unit_test(test_counts_that_go_back_or_leap_are_not_counted),
        cmocka_unit_test(test_slab_copies_stay_whole),
        cmocka_unit_test(test_failures_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

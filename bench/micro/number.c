/* What happens once per read or per result figure: histogram, record, numbers as text. */
#include "bench/micro/micro.h"

#include "base/hist.h"
#include "base/num.h"
#include "metrics/record.h"

#include <stdio.h>
#include <string.h>

enum { VALUES = 1024, TOKENS = 1024 };

struct numbers {
    uint64_t lag_ns[VALUES];
    uint64_t time_ns[VALUES];
    double seconds[VALUES];
    char text[VALUES][NUM_TEXT_MAX];
    size_t text_len[VALUES];
    uint32_t bucket[VALUES];
    uint32_t gap[TOKENS];
    struct hist hist;
};

static uint64_t run_hist(void *context, size_t rounds)
{
    struct numbers *n = context;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++)
            hist_add(&n->hist, n->lag_ns[i]);
    }
    return n->hist.count;
}

static uint64_t floor_hist(void *context, size_t rounds)
{
    struct numbers *n = context;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++)
            n->bucket[n->lag_ns[i] % VALUES]++;
        micro_keep(n);
    }
    return n->bucket[0];
}

static uint64_t run_record(void *context, size_t rounds)
{
    struct numbers *n = context;
    uint64_t sum = 0;
    while (rounds-- > 0) {
        struct record_slab slab = {0};
        struct record record;
        record_init(&record);
        for (size_t i = 0; i < TOKENS; i++)
            record_event(&record, &slab, n->time_ns[i]);
        sum += record.last_ns;
        record_slab_done(&slab);
    }
    return sum;
}

static uint64_t floor_record(void *context, size_t rounds)
{
    struct numbers *n = context;
    while (rounds-- > 0) {
        uint64_t last = 0;
        for (size_t i = 0; i < TOKENS; i++) {
            n->gap[i] = (uint32_t)(n->time_ns[i] - last);
            last = n->time_ns[i];
        }
        micro_keep(n);
    }
    return n->gap[0];
}

static uint64_t run_format(void *context, size_t rounds)
{
    struct numbers *n = context;
    char out[NUM_TEXT_MAX];
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++)
            sum += num_format_double(out, n->seconds[i]);
    }
    return sum;
}

static uint64_t floor_printf(void *context, size_t rounds)
{
    struct numbers *n = context;
    char out[64];
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++)
            sum += (uint64_t)snprintf(out, sizeof(out), "%.17g", n->seconds[i]);
    }
    return sum;
}

static uint64_t run_parse(void *context, size_t rounds)
{
    struct numbers *n = context;
    double value = 0;
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++)
            sum += num_parse_double(sv_make(n->text[i], n->text_len[i]), &value) && value > 0.01;
    }
    return sum;
}

static uint64_t run_format_u64(void *context, size_t rounds)
{
    struct numbers *n = context;
    char out[NUM_TEXT_MAX];
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++)
            sum += num_format_u64(out, n->time_ns[i]);
    }
    return sum;
}

static uint64_t floor_copy(void *context, size_t rounds)
{
    struct numbers *n = context;
    char out[NUM_TEXT_MAX];
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < VALUES; i++) {
            memcpy(out, n->text[i], n->text_len[i]);
            micro_keep(out);
            sum += (unsigned char)out[0];
        }
    }
    return sum;
}

/* Gaps about 10 ms and lags about 30 us, spread by a simple congruential generator. */
static void fill(struct numbers *n)
{
    uint64_t state = 1;
    uint64_t time_ns = UINT64_C(2745856890249);
    for (size_t i = 0; i < VALUES; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t draw = state >> 44; /* below 2^20 */
        time_ns += 9500000 + draw;
        n->time_ns[i] = time_ns;
        n->lag_ns[i] = 4000 + draw / 20;
        n->seconds[i] = (double)(9500000 + draw) / 1e9;
        n->text_len[i] = num_format_double(n->text[i], n->seconds[i]);
    }
}

const struct micro_case *micro_number_cases(void)
{
    static struct numbers n;
    static const struct micro_case cases[] = {
        {"hist_add", "an indexed increment", VALUES, 0, run_hist, floor_hist, &n},
        {"record_event", "a difference stored", TOKENS, 0, run_record, floor_record, &n},
        {"num_format_double", "memcpy of the text", VALUES, 0, run_format, floor_copy, &n},
        {"num_format_double (libc)", "snprintf %.17g", VALUES, 0, run_format, floor_printf, &n},
        {"num_parse_double", "memcpy of the text", VALUES, 0, run_parse, floor_copy, &n},
        {"num_format_u64", "memcpy of the text", VALUES, 0, run_format_u64, floor_copy, &n},
        {0},
    };
    fill(&n);
    return cases;
}

/* Random streams of numpy and Python.  Three generators share two engines:
 *   PCG64 (O'Neill 2014, XSL-RR 128/64), seeded through numpy's SeedSequence;
 *   MT19937 (Matsumoto and Nishimura 1998), seeded by init_genrand (numpy) or init_by_array (Python).
 * What counts is which draws a call makes and in which order; the vectors in tests/data/rng hold that still. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

static double double_of_u64(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* ---- PCG64 ---- */

enum { POOL_WORDS = 4 };

struct seed_hash {
    uint32_t value;
    uint32_t factor;
};

/* One word through the running hash. */
static uint32_t seed_hash_word(struct seed_hash *h, uint32_t word)
{
    word ^= h->value;
    h->value *= h->factor;
    word *= h->value;
    return word ^ word >> 16;
}

static uint32_t seed_mix(uint32_t a, uint32_t b)
{
    uint32_t r = 0xca01f9ddu * a - 0x4973f715u * b;
    return r ^ r >> 16;
}

/* numpy's SeedSequence(seed).generate_state(8): a 64-bit seed never has more words than the pool. */
static void seed_sequence(uint64_t seed, uint32_t out[8])
{
    uint32_t pool[POOL_WORDS] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    struct seed_hash in = {0x43b0d7e5u, 0x931e8875u};
    for (size_t i = 0; i < POOL_WORDS; i++)
        pool[i] = seed_hash_word(&in, pool[i]);
    for (size_t source = 0; source < POOL_WORDS; source++) {
        for (size_t target = 0; target < POOL_WORDS; target++) {
            if (source != target)
                pool[target] = seed_mix(pool[target], seed_hash_word(&in, pool[source]));
        }
    }
    struct seed_hash state = {0x8b51f9ddu, 0x58f38dedu};
    for (size_t i = 0; i < 8; i++)
        out[i] = seed_hash_word(&state, pool[i % POOL_WORDS]);
}

__extension__ static unsigned __int128 wide(uint64_t high, uint64_t low)
{
    __extension__ unsigned __int128 value = high;
    return value << 64 | low;
}

static void pcg64_step(struct pcg64 *g)
{
    g->state = g->state * wide(0x2360ed051fc65da4u, 0x4385df649fccf645u) + g->inc;
}

void pcg64_seed(struct pcg64 *g, uint64_t seed)
{
    uint32_t w[8];
    uint64_t a[4];
    seed_sequence(seed, w);
    for (size_t i = 0; i < 4; i++)
        a[i] = (uint64_t)w[2 * i + 1] << 32 | w[2 * i];
    *g = (struct pcg64){.inc = wide(a[2], a[3]) << 1 | 1};
    pcg64_step(g);
    g->state += wide(a[0], a[1]);
    pcg64_step(g);
}

uint64_t pcg64_u64(struct pcg64 *g)
{
    pcg64_step(g);
    uint64_t folded = (uint64_t)(g->state >> 64) ^ (uint64_t)g->state;
    unsigned turn = (unsigned)(g->state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

uint32_t pcg64_u32(struct pcg64 *g)
{
    if (g->has_half) {
        g->has_half = false;
        return g->half;
    }
    uint64_t both = pcg64_u64(g);
    g->has_half = true;
    g->half = (uint32_t)(both >> 32);
    return (uint32_t)both;
}

double pcg64_double(struct pcg64 *g)
{
    return double_of_u64(pcg64_u64(g));
}

/* 0..last without bias (Lemire 2019), by 32-bit draws; last < 2^32 - 1. */
static uint32_t pcg64_upto32(struct pcg64 *g, uint32_t last)
{
    uint32_t count = last + 1;
    uint64_t m = (uint64_t)pcg64_u32(g) * count;
    if ((uint32_t)m < count) {
        uint32_t unfair = (UINT32_MAX - last) % count;
        while ((uint32_t)m < unfair)
            m = (uint64_t)pcg64_u32(g) * count;
    }
    return (uint32_t)(m >> 32);
}

/* The same by 64-bit draws; last < 2^64 - 1. */
static uint64_t pcg64_upto64(struct pcg64 *g, uint64_t last)
{
    uint64_t count = last + 1;
    __extension__ unsigned __int128 m = wide(0, pcg64_u64(g)) * count;
    if ((uint64_t)m < count) {
        uint64_t unfair = (UINT64_MAX - last) % count;
        while ((uint64_t)m < unfair)
            m = wide(0, pcg64_u64(g)) * count;
    }
    return (uint64_t)(m >> 64);
}

/* numpy's choice among the ways: the range decides how many bits a draw takes. */
static uint64_t pcg64_upto(struct pcg64 *g, uint64_t last)
{
    if (last == 0)
        return 0;
    if (last < UINT32_MAX)
        return pcg64_upto32(g, (uint32_t)last);
    if (last == UINT32_MAX)
        return pcg64_u32(g);
    return last < UINT64_MAX ? pcg64_upto64(g, last) : pcg64_u64(g);
}

int64_t pcg64_integers(struct pcg64 *g, int64_t lo, int64_t hi)
{
    assert(hi > lo);
    return (int64_t)((uint64_t)lo + pcg64_upto(g, (uint64_t)hi - (uint64_t)lo - 1));
}

void pcg64_bytes(struct pcg64 *g, uint8_t *out, size_t n)
{
    uint32_t four = 0;
    for (size_t i = 0; i < n; i++) {
        four = i % 4 == 0 ? pcg64_u32(g) : four >> 8;
        out[i] = (uint8_t)four;
    }
}

size_t pcg64_choice(struct pcg64 *g, const double *p, size_t k)
{
    assert(k > 0);
    double total = 0.0;
    for (size_t i = 0; i < k; i++)
        total += p[i];
    double draw = pcg64_double(g);
    double sum = 0.0;
    for (size_t i = 0; i + 1 < k; i++) {
        sum += p[i];
        if (sum / total > draw)
            return i;
    }
    return k - 1;
}

static void swap_items(size_t *items, size_t i, size_t j)
{
    size_t kept = items[i];
    items[i] = items[j];
    items[j] = kept;
}

/* 0..last as numpy's shuffles draw it: bits cut to the length of `last`, until one is not above it. */
static uint64_t pcg64_masked_upto(struct pcg64 *g, uint64_t last)
{
    uint64_t mask = UINT64_MAX >> __builtin_clzll(last | 1);
    for (;;) {
        uint64_t draw = (last <= UINT32_MAX ? pcg64_u32(g) : pcg64_u64(g)) & mask;
        if (draw <= last)
            return draw;
    }
}

void pcg64_permutation(struct pcg64 *g, size_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = i;
    for (size_t i = n; i-- > 1;)
        swap_items(out, i, (size_t)pcg64_masked_upto(g, i));
}

double pcg64_standard_normal(struct pcg64 *g)
{
    double x, square;
    do {
        x = 2.0 * pcg64_double(g) - 1.0;
        double y = 2.0 * pcg64_double(g) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    return x * sqrt(-2.0 * log(square) / square);
}

/* ---- MT19937 ---- */

enum { MT_WORDS = 624, MT_MIDDLE = 397 };

static void mt_seed_word(struct mt19937 *g, uint32_t seed)
{
    *g = (struct mt19937){.next = MT_WORDS};
    g->state[0] = seed;
    for (uint32_t i = 1; i < MT_WORDS; i++) {
        uint32_t before = g->state[i - 1];
        g->state[i] = 1812433253u * (before ^ before >> 30) + i;
    }
}

/* The engine's init_by_array, in the authors' two rounds. */
static void mt_seed_words(struct mt19937 *g, const uint32_t *key, size_t words)
{
    mt_seed_word(g, 19650218u);
    uint32_t *state = g->state;
    size_t i = 1;
    size_t j = 0;
    for (size_t round = 0; round < MT_WORDS; round++) {
        uint32_t before = state[i - 1];
        state[i] = (state[i] ^ (before ^ before >> 30) * 1664525u) + key[j] + (uint32_t)j;
        j = (j + 1) % words;
        if (++i == MT_WORDS) {
            state[0] = state[MT_WORDS - 1];
            i = 1;
        }
    }
    for (size_t round = 1; round < MT_WORDS; round++) {
        uint32_t before = state[i - 1];
        state[i] = (state[i] ^ (before ^ before >> 30) * 1566083941u) - (uint32_t)i;
        if (++i == MT_WORDS) {
            state[0] = state[MT_WORDS - 1];
            i = 1;
        }
    }
    state[0] = 0x80000000u;
}

static void mt_refill(struct mt19937 *g)
{
    uint32_t *state = g->state;
    for (size_t i = 0; i < MT_WORDS; i++) {
        uint32_t y = (state[i] & 0x80000000u) | (state[(i + 1) % MT_WORDS] & 0x7fffffffu);
        uint32_t twist = (y & 1) != 0 ? 0x9908b0dfu : 0;
        state[i] = state[(i + MT_MIDDLE) % MT_WORDS] ^ y >> 1 ^ twist;
    }
    g->next = 0;
}

static uint32_t mt_u32(struct mt19937 *g)
{
    if (g->next >= MT_WORDS)
        mt_refill(g);
    uint32_t y = g->state[g->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* 53 bits of two draws. */
static double mt_double(struct mt19937 *g)
{
    uint32_t high = mt_u32(g) >> 5;
    uint32_t low = mt_u32(g) >> 6;
    return ((double)high * 0x1p26 + (double)low) * 0x1p-53;
}

static unsigned bit_length(uint64_t n)
{
    return n > 0 ? 64u - (unsigned)__builtin_clzll(n) : 0;
}

/* ---- Python's random ---- */

void py_seed(struct mt19937 *g, uint64_t seed)
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    mt_seed_words(g, key, key[1] != 0 ? 2 : 1);
}

double py_random(struct mt19937 *g)
{
    return mt_double(g);
}

/* getrandbits: whole words from the lowest on, of the last one the upper bits. */
static uint64_t py_bits(struct mt19937 *g, unsigned bits)
{
    if (bits <= 32)
        return mt_u32(g) >> (32 - bits);
    uint64_t low = mt_u32(g);
    uint64_t high = mt_u32(g) >> (64 - bits);
    return high << 32 | low;
}

uint64_t py_below(struct mt19937 *g, uint64_t n)
{
    assert(n > 0);
    unsigned bits = bit_length(n);
    uint64_t draw = py_bits(g, bits);
    while (draw >= n)
        draw = py_bits(g, bits);
    return draw;
}

int64_t py_randint(struct mt19937 *g, int64_t lo, int64_t hi)
{
    assert(hi >= lo);
    return (int64_t)((uint64_t)lo + py_below(g, (uint64_t)hi - (uint64_t)lo + 1));
}

void py_shuffle(struct mt19937 *g, size_t *items, size_t n)
{
    for (size_t i = n; i-- > 1;)
        swap_items(items, i, (size_t)py_below(g, i + 1));
}

size_t py_choice(struct mt19937 *g, size_t n)
{
    return (size_t)py_below(g, n);
}

size_t py_choices1(struct mt19937 *g, size_t n)
{
    return (size_t)(mt_double(g) * (double)n);
}

double py_uniform(struct mt19937 *g, double lo, double hi)
{
    return lo + (hi - lo) * mt_double(g);
}

/* ---- numpy's legacy generator ---- */

void npl_seed(struct mt19937 *g, uint32_t seed)
{
    mt_seed_word(g, seed);
}

uint32_t npl_u32(struct mt19937 *g)
{
    return mt_u32(g);
}

double npl_double(struct mt19937 *g)
{
    return mt_double(g);
}

/* 0..last: draws cut to as many bits as `last` has, until one is not above it. */
static uint64_t npl_upto(struct mt19937 *g, uint64_t last)
{
    if (last == 0)
        return 0;
    uint64_t mask = UINT64_MAX >> __builtin_clzll(last);
    for (;;) {
        uint64_t draw = mt_u32(g);
        if (last > UINT32_MAX)
            draw = draw << 32 | mt_u32(g);
        if ((draw & mask) <= last)
            return draw & mask;
    }
}

int64_t npl_randint(struct mt19937 *g, int64_t lo, int64_t hi)
{
    assert(hi > lo);
    return (int64_t)((uint64_t)lo + npl_upto(g, (uint64_t)hi - (uint64_t)lo - 1));
}

double npl_standard_exponential(struct mt19937 *g)
{
    return -log(1.0 - mt_double(g));
}

/* Marsaglia's polar method; the second of the pair is kept for the next call. */
double npl_standard_normal(struct mt19937 *g)
{
    if (g->has_gauss) {
        g->has_gauss = false;
        return g->gauss;
    }
    double x, y, square;
    do {
        x = 2.0 * mt_double(g) - 1.0;
        y = 2.0 * mt_double(g) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    double factor = sqrt(-2.0 * log(square) / square);
    g->gauss = factor * x;
    g->has_gauss = true;
    return factor * y;
}

/* Powers of uniforms, for shapes below 1 (Ahrens and Dieter 1974, algorithm GS). */
static double gamma_below_one(struct mt19937 *g, double shape)
{
    for (;;) {
        double u = mt_double(g);
        double v = npl_standard_exponential(g);
        if (u <= 1.0 - shape) {
            double x = pow(u, 1.0 / shape);
            if (x <= v)
                return x;
        } else {
            double y = -log((1.0 - u) / shape);
            double x = pow(1.0 - shape + shape * y, 1.0 / shape);
            if (x <= v + y)
                return x;
        }
    }
}

/* Marsaglia and Tsang 2000, "A simple method for generating gamma variables". */
static double gamma_above_one(struct mt19937 *g, double shape)
{
    double b = shape - 1.0 / 3.0;
    double c = 1.0 / sqrt(9.0 * b);
    for (;;) {
        double x, v;
        do {
            x = npl_standard_normal(g);
            v = 1.0 + c * x;
        } while (v <= 0.0);
        v = v * v * v;
        double u = mt_double(g);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x))
            return b * v;
        if (log(u) < 0.5 * x * x + b * (1.0 - v + log(v)))
            return b * v;
    }
}

double npl_gamma(struct mt19937 *g, double shape, double scale)
{
    if (shape == 1.0)
        return scale * npl_standard_exponential(g);
    if (shape == 0.0)
        return 0.0;
    return scale * (shape < 1.0 ? gamma_below_one(g, shape) : gamma_above_one(g, shape));
}

void npl_permutation(struct mt19937 *g, size_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = i;
    for (size_t i = n; i-- > 1;)
        swap_items(out, i, (size_t)npl_upto(g, i));
}

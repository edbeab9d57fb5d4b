/* rng.h - the random streams of numpy and Python, bit for bit (numpy 2.4, CPython 3.11; algorithms in DATASETS 0.6 of
 * the specification, vectors in tests/data/rng).
 *   struct pcg64: numpy.random.default_rng(seed)   (stream G)
 *   struct mt19937 + py_*: random.seed(seed)       (stream M)
 *   struct mt19937 + npl_*: numpy.random.seed(seed) (stream L, legacy)
 * Threads: a generator belongs to one thread.  Errors: none. */
#ifndef VB_BASE_RNG_H
#define VB_BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcg64 {
    __extension__ unsigned __int128 state;
    __extension__ unsigned __int128 inc;
    bool has_half; /* high half of the last u64 waits for the next 32-bit draw */
    uint32_t half;
};

void pcg64_seed(struct pcg64 *g, uint64_t seed);
uint64_t pcg64_u64(struct pcg64 *g);
uint32_t pcg64_u32(struct pcg64 *g);
double pcg64_double(struct pcg64 *g);
/* Generator.integers(lo, hi): lo <= result < hi; hi > lo. */
int64_t pcg64_integers(struct pcg64 *g, int64_t lo, int64_t hi);
/* Generator.integers(0, 256, dtype=uint8, size=n). */
void pcg64_bytes(struct pcg64 *g, uint8_t *out, size_t n);
/* Generator.choice(k, p=p): index drawn by the weights p[0..k). */
size_t pcg64_choice(struct pcg64 *g, const double *p, size_t k);
/* Generator.permutation(n) as indices. */
void pcg64_permutation(struct pcg64 *g, size_t *out, size_t n);
/* A normal variate (polar method) for the mock server's jitter.  NOT numpy's Generator.standard_normal: the tables of
 * its ziggurat follow from no formula to the last bit, and no stream that must be reproduced draws from it. */
double pcg64_standard_normal(struct pcg64 *g);

struct mt19937 {
    uint32_t state[624];
    unsigned next;
    bool has_gauss; /* numpy legacy keeps the second normal of a pair */
    double gauss;
};

void py_seed(struct mt19937 *g, uint64_t seed);                /* random.seed(int) */
double py_random(struct mt19937 *g);                           /* random.random() */
uint64_t py_below(struct mt19937 *g, uint64_t n);              /* random._randbelow(n), n >= 1 */
int64_t py_randint(struct mt19937 *g, int64_t lo, int64_t hi); /* inclusive */
void py_shuffle(struct mt19937 *g, size_t *items, size_t n);
size_t py_choice(struct mt19937 *g, size_t n);   /* random.choice(range(n)) */
size_t py_choices1(struct mt19937 *g, size_t n); /* random.choices(range(n), k=1)[0] */
double py_uniform(struct mt19937 *g, double lo, double hi);

void npl_seed(struct mt19937 *g, uint32_t seed); /* numpy.random.seed(int) */
uint32_t npl_u32(struct mt19937 *g);
double npl_double(struct mt19937 *g);                            /* numpy.random.random() */
int64_t npl_randint(struct mt19937 *g, int64_t lo, int64_t hi);  /* randint(lo, hi), hi excluded */
double npl_gamma(struct mt19937 *g, double shape, double scale); /* numpy.random.gamma */
double npl_standard_normal(struct mt19937 *g);
double npl_standard_exponential(struct mt19937 *g);
void npl_permutation(struct mt19937 *g, size_t *out, size_t n);

#endif

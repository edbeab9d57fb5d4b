/* Micro benchmarks: nanoseconds per operation, each beside a floor that is measured alternately in the same minute.
 * The figure is the median over the repetitions, the ratio the median of the ratios of neighbours, so that a busy
 * machine, which slows both, hardly moves it.
 *
 *   micro [-r REPETITIONS] [WORD]      WORD: only cases whose name holds it */
#include "bench/micro/micro.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS_MAX = 1001, SLICE_NS = 4000000 };

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double time_rounds(micro_fn *run, void *context, size_t rounds)
{
    uint64_t began = cpu_ns();
    uint64_t result = run(context, rounds);
    uint64_t took = cpu_ns() - began;
    micro_keep(&result);
    return (double)took;
}

/* Rounds that fill a slice; also warms caches and branch predictors. */
static size_t fit_rounds(micro_fn *run, void *context)
{
    size_t rounds = 1;
    while (time_rounds(run, context, rounds) < SLICE_NS)
        rounds *= 2;
    return rounds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

static void run_case(const struct micro_case *c, size_t repetitions)
{
    static const char *const format = "%-32s %10.2f %10.2f  %7.2f  ";
    double *ours = calloc(repetitions * 3, sizeof(*ours));
    if (ours == NULL)
        abort();
    double *floor = ours + repetitions;
    double *ratio = floor + repetitions;
    size_t rounds = fit_rounds(c->run, c->context);
    size_t floor_rounds = fit_rounds(c->floor, c->context);
    for (size_t i = 0; i < repetitions; i++) {
        ours[i] = time_rounds(c->run, c->context, rounds) / (double)(rounds * c->ops);
        floor[i] =
            time_rounds(c->floor, c->context, floor_rounds) / (double)(floor_rounds * c->ops);
        ratio[i] = ours[i] / floor[i];
    }
    double ns = median(ours, repetitions);
    printf(format, c->name, ns, median(floor, repetitions), median(ratio, repetitions));
    if (c->bytes > 0)
        printf("%6.2f  ", (double)c->bytes / (double)c->ops / ns);
    else
        printf("%6s  ", "");
    printf("%s\n", c->floor_name);
    fflush(stdout);
    free(ours);
}

static void run_cases(const struct micro_case *c, const char *word, size_t repetitions)
{
    for (; c->name != NULL; c++) {
        if (strstr(c->name, word) != NULL)
            run_case(c, repetitions);
    }
}

int main(int argc, char **argv)
{
    size_t repetitions = 25;
    const char *word = "";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-r") == 0 && i + 1 < argc)
            repetitions = (size_t)strtoul(argv[++i], NULL, 10);
        else
            word = argv[i];
    }
    if (repetitions < 1 || repetitions > REPETITIONS_MAX || word[0] == '-') {
        fputs("usage: micro [-r REPETITIONS] [WORD]\n", stderr);
        return 2;
    }
    printf("%-32s %10s %10s  %7s  %6s  %s\n", "operation", "ns/op", "floor", "ratio", "GB/s",
           "the floor");
    run_cases(micro_stream_cases(), word, repetitions);
    run_cases(micro_number_cases(), word, repetitions);
    run_cases(micro_tokenizer_cases(), word, repetitions);
    return 0;
}

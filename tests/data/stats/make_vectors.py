#!/usr/bin/env python3
"""Writes vectors.h: sums, means, deviations and percentiles by numpy, for tests/unit/base/test_stats.c.

The series are random.Random(n): n values random() * 100, which the test draws with py_random.  Run with
CPython 3.11 and numpy 2.4.6 (the version is written into the header).
"""

import random

import numpy as np

SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 100, 127, 128, 129, 136, 255, 256, 257, 1000, 4099, 20011]
PERCENTILES = [0, 1, 25, 37.5, 50, 90, 99, 99.9, 100]


def main():
    print("/* vectors.h - statistics by numpy %s; written by make_vectors.py, do not edit. */" % np.__version__)
    print("#ifndef VB_TESTS_STATS_VECTORS_H\n#define VB_TESTS_STATS_VECTORS_H\n\n#include <stddef.h>\n")
    print("static const double stats_percentiles[] = {%s};\n" % ", ".join(str(float(p)) for p in PERCENTILES))
    print("struct stats_vector {\n    size_t n;\n    double sum;\n    double mean;\n    double std;")
    print("    double median;\n    double percentile[%d];\n};\n" % len(PERCENTILES))
    print("/* clang-format off */\nstatic const struct stats_vector stats_vectors[] = {")
    for n in SIZES:
        r = random.Random(n)
        x = [r.random() * 100 for _ in range(n)]
        figures = [np.sum(x), np.mean(x), np.std(x), np.median(x)]
        print("    {%d, %s,\n     {%s,\n      %s}}," % (
            n,
            ", ".join(float(v).hex() for v in figures),
            ", ".join(float(np.percentile(x, p)).hex() for p in PERCENTILES[:4]),
            ", ".join(float(np.percentile(x, p)).hex() for p in PERCENTILES[4:]),
        ))
    print("};\n/* clang-format on */\n\n#endif")


main()

#!/usr/bin/env python3
"""Writes vectors.h: what numpy and CPython draw, for tests/unit/base/test_rng.c.

Run with CPython 3.11 and numpy 2.4.6 (the versions are written into the header).  Every row exists
twice: once with the generator seeded anew for every field, and once with all fields drawn in their
order from one generator ("continued"), so that what a call leaves behind is tested too.
"""

import platform
import random
import textwrap

import numpy as np

SEEDS = [0, 1, 42, 123, 2147483647, 4294967295, 1099511627783, 18446744073709551615]


def g_fields(fresh):
    yield "int64_t", "below_32000", "integers(0, 32000, 20)", fresh().integers(0, 32000, 20)
    yield "int64_t", "from_95", "integers(95, 106, 7)", fresh().integers(95, 106, 7)
    g = fresh()
    yield "int64_t", "single_3", "single integers(0, 3)", [g.integers(0, 3) for _ in range(6)]
    yield "int64_t", "only_5", "integers(5, 6, 3)", fresh().integers(5, 6, 3)
    yield "int64_t", "below_2p32", "integers(0, 2**32, 4)", fresh().integers(0, 2**32, 4)
    yield "int64_t", "below_2p33", "integers(0, 2**33, 4)", fresh().integers(0, 2**33, 4)
    yield "double", "doubles", "random(5)", fresh().random(5)
    g = fresh()
    yield "uint8_t", "bytes", "integers(0, 256, 18, dtype=uint8)", g.integers(0, 256, 18, np.uint8)
    choices = [g.choice(3, p=[0.2, 0.5, 0.3]) for _ in range(8)]
    yield "size_t", "choice", "after bytes: single choice(3, p=[0.2, 0.5, 0.3])", choices
    yield "int64_t", "after_choice", "after choice: integers(0, 32000, 3)", g.integers(0, 32000, 3)
    yield "size_t", "permutation", "permutation(10)", fresh().permutation(10)
    yield "int64_t", "unfair_32", "integers(0, 3 * 2**30, 6)", fresh().integers(0, 3 * 2**30, 6)
    wide = fresh().integers(-(2**62), 2**62 + 2**61, 6)
    yield "int64_t", "unfair_64", "integers(-2**62, 2**62 + 2**61, 6)", wide
    wide = fresh().integers(-(2**63), 2**63 - 1, 3)
    yield "int64_t", "all_64", "integers(-2**63, 2**63 - 1, 3)", wide


def l_fields(fresh):
    yield "double", "gamma_1", "gamma(1.0, 0.1, 6)", fresh().gamma(1.0, 0.1, 6)
    yield "double", "gamma_half", "gamma(0.5, 0.2, 6)", fresh().gamma(0.5, 0.2, 6)
    yield "double", "gamma_2_5", "gamma(2.5, 0.04, 6)", fresh().gamma(2.5, 0.04, 6)
    yield "double", "gamma_100", "gamma(100, 0.001, 4)", fresh().gamma(100, 0.001, 4)
    yield "int64_t", "below_32000", "randint(0, 32000, 10)", fresh().randint(0, 32000, 10)
    yield "double", "doubles", "random_sample(3)", fresh().random_sample(3)
    yield "int64_t", "below_7", "randint(0, 7, 5)", fresh().randint(0, 7, 5)
    yield "double", "normals", "standard_normal(5)", fresh().standard_normal(5)
    yield "double", "exponentials", "standard_exponential(4)", fresh().standard_exponential(4)
    wide = fresh().randint(0, 2**32, 3, dtype=np.int64)
    yield "int64_t", "below_2p32", "randint(0, 2**32, 3)", wide
    wide = fresh().randint(-5, 2**40, 3, dtype=np.int64)
    yield "int64_t", "below_2p40", "randint(-5, 2**40, 3)", wide
    yield "size_t", "permutation", "permutation(20)", fresh().permutation(20)


def m_fields(fresh):
    r = fresh()
    yield "double", "doubles", "random()", [r.random() for _ in range(4)]
    r = fresh()
    yield "int64_t", "randint_1_5", "randint(1, 5)", [r.randint(1, 5) for _ in range(8)]
    items = list(range(20))
    fresh().shuffle(items)
    yield "size_t", "shuffle", "shuffle(list(range(20)))", items
    r = fresh()
    yield "size_t", "choice_7", "choice(range(7))", [r.choice(range(7)) for _ in range(6)]
    yield "size_t", "choices_1000", "choices(range(1000), k=8)", fresh().choices(range(1000), k=8)
    r = fresh()
    yield "int64_t", "below_1", "_randbelow(1), then randint(1, 1000)", [r._randbelow(1), r.randint(1, 1000)]
    r = fresh()
    yield "int64_t", "below_2p40", "_randbelow(2**40 + 1)", [r._randbelow(2**40 + 1) for _ in range(3)]
    r = fresh()
    yield "double", "uniform", "uniform(-3.5, 10.25)", [r.uniform(-3.5, 10.25) for _ in range(3)]


def factories(new):
    """One that seeds anew every time, and one that always gives the same generator."""
    one = new()
    return new, lambda: one


def show(kind, value):
    if kind == "double":
        return float(value).hex()
    value = int(value)
    if value == -2**63:
        return "INT64_MIN"
    return "%d" % value if abs(value) < 2**31 else "INT64_C(%d)" % value


def table(prefix, fields, new, seeds):
    print("struct %s_vector {\n    uint64_t seed;" % prefix)
    for kind, field, what, values in fields(lambda: new(0)):
        print("    %s %s[%d]; /* %s */" % (kind, field, len(values), what))
    print("};\n")
    for which, name in enumerate(["fresh", "continued"]):
        print("static const struct %s_vector %s_%s[] = {" % (prefix, prefix, name))
        for seed in seeds:
            print("    {\n        UINT64_C(%d)," % seed)
            for kind, field, _, values in fields(factories(lambda: new(seed))[which]):
                text = "{" + ", ".join(show(kind, v) for v in values) + "}, /* " + field + " */"
                lines = textwrap.wrap(text, 90, break_long_words=False)
                print("        " + "\n        ".join(lines))
            print("    },")
        print("};\n")


def main():
    print("/* vectors.h - random draws of numpy %s and CPython %s; written by make_vectors.py, do not edit. */"
          % (np.__version__, platform.python_version()))
    print("#ifndef VB_TESTS_RNG_VECTORS_H\n#define VB_TESTS_RNG_VECTORS_H\n\n#include <stddef.h>\n#include <stdint.h>\n")
    print("/* clang-format off */")
    table("g", g_fields, np.random.default_rng, SEEDS)
    table("l", l_fields, np.random.RandomState, [s for s in SEEDS if s < 2**32])
    table("m", m_fields, random.Random, SEEDS)
    print("/* clang-format on */\n\n#endif")


main()

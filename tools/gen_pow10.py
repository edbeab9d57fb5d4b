#!/usr/bin/env python3
"""Writes src/base/num_pow10_priv.h: for every k in -292..324 the number g = floor(10^k * 2^-r) + 1 with r chosen so
that g has 128 bits (r = floor(log2(10^k)) - 127).  num_format_double needs them.  Exact integers throughout."""

FIRST, LAST = -292, 324


def g(k):
    if k >= 0:
        num, den = 10**k, 1
        log2 = num.bit_length() - 1
    else:
        num, den = 1, 10**-k
        log2 = -den.bit_length()  # no power of ten below 1 is a power of two
    shift = 127 - log2
    value = (num << shift) // den if shift >= 0 else num // (den << -shift)
    value += 1
    assert value.bit_length() == 128, k
    return value


def main():
    rows = []
    for k in range(FIRST, LAST + 1):
        v = g(k)
        rows.append("{0x%016x, 0x%016x}," % (v >> 64, v & (2**64 - 1)))
    print("/* num_pow10_priv.h - powers of ten for num_format_double; written by tools/gen_pow10.py, do not edit.")
    print(" * Row k - POW10_FIRST holds floor(10^k * 2^-r) + 1 in 128 bits, high half first, r = floor(log2(10^k)) - 127.")
    print(" * Threads: constant.  Errors: none. */")
    print("#ifndef VB_BASE_NUM_POW10_PRIV_H\n#define VB_BASE_NUM_POW10_PRIV_H\n")
    print("#include <stdint.h>\n")
    print("enum { POW10_FIRST = %d, POW10_LAST = %d };\n" % (FIRST, LAST))
    print("struct pow10_row {\n    uint64_t high;\n    uint64_t low;\n};\n")
    print("/* clang-format off */")
    print("static const struct pow10_row pow10_rows[POW10_LAST - POW10_FIRST + 1] = {")
    for i in range(0, len(rows), 2):
        print("    " + " ".join(rows[i : i + 2]))
    print("};\n/* clang-format on */\n\n#endif")


main()

#!/usr/bin/env python3
"""Writes src/tokenizer/unicode_table_priv.h from data/unicode_classes.tsv.

usage: gen_unicode.py data/unicode_classes.tsv >src/tokenizer/unicode_table_priv.h
Needs a Python whose unicodedata is Unicode 14 or newer; the ranges that a pattern library of Unicode 14 lacks are those
unassigned in Unicode 14, so run it with Python 3.11 or 3.12.
"""
import sys
import unicodedata

FLAGS = [("LU", r"\p{Lu}"), ("LL", r"\p{Ll}"), ("LT", r"\p{Lt}"), ("LM", r"\p{Lm}"), ("LO", r"\p{Lo}"), ("M", r"\p{M}"),
         ("N", r"\p{N}"), ("ND", r"\d"), ("P", r"\p{P}"), ("S", r"\p{S}"), ("SPACE", r"\s"), ("HAN", r"\p{Han}"),
         ("WORD", r"\w (Oniguruma)"), ("BERT_REMOVED", "bert_removed"), ("BERT_CJK", "bert_chinese"),
         ("PUNCT", "punct"), ("NUMERIC", "digits"), ("STRIP_ACCENTS", "strip_accents"),
         ("BERT_ACCENTS", "bert_accents"), ("NFKC_KEPT", "nfkc_kept"), ("NFKD_KEPT", "nfkd_kept"),
         ("NFD_KEPT", "nfd_kept"), ("NFC_CHECK", "nfc_check")]
NEWER = [("L", r"\p{L}"), ("Lu", r"\p{Lu}"), ("Ll", r"\p{Ll}"), ("Lt", r"\p{Lt}"), ("Lm", r"\p{Lm}"), ("Lo", r"\p{Lo}"),
         ("M", r"\p{M}"), ("N", r"\p{N}"), ("Nd", r"\d"), ("P", r"\p{P}"), ("S", r"\p{S}"), ("Han", r"\p{Han}"),
         ("w", r"\w (Oniguruma)")]
BLOCK = 128


def points(text):
    for part in text.split():
        a, _, b = part.partition("-")
        yield from range(int(a, 16), int(b or a, 16) + 1)


def ranges(found):
    out = []
    for p in sorted(found):
        if out and out[-1][1] == p - 1:
            out[-1][1] = p
        else:
            out.append([p, p])
    return out


def numbers(values, per_line):
    for i in range(0, len(values), per_line):
        print("    " + ", ".join(str(v) for v in values[i:i + per_line]) + ",")


def main():
    rows = {}
    for line in open(sys.argv[1], encoding="utf-8"):
        name, _, text = line.rstrip("\n").split("\t")
        rows[name] = text
    bits = [0] * 0x110000
    for i, (_, name) in enumerate(FLAGS):
        for p in points(rows[name]):
            bits[p] |= 1 << i
    kinds = sorted(set(bits))
    number = {k: i for i, k in enumerate(kinds)}
    assert len(kinds) < 256
    blocks, index = {}, []
    for at in range(0, 0x110000, BLOCK):
        block = tuple(number[b] for b in bits[at:at + BLOCK])
        index.append(blocks.setdefault(block, len(blocks)))
    print("/* unicode_table_priv.h - made by tools/gen_unicode.py from data/unicode_classes.tsv; not to be edited. */")
    print("#ifndef VB_TOKENIZER_UNICODE_TABLE_PRIV_H\n#define VB_TOKENIZER_UNICODE_TABLE_PRIV_H\n")
    print("#include <stdint.h>\n\n/* clang-format off */")
    print("static const uint32_t unicode_kinds[%d] = {" % len(kinds))
    numbers(["0x%X" % k for k in kinds], 10)
    print("};\nstatic const uint16_t unicode_blocks[%d] = {" % len(index))
    numbers(index, 20)
    print("};\nstatic const uint8_t unicode_points[%d] = {" % (len(blocks) * BLOCK))
    for block in blocks:
        numbers(block, 24)
    print("};\n")
    print("struct unicode_lower {\n    uint32_t from;\n    uint32_t to;\n};")
    lower = [x.split(">") for x in rows["lower_map"].split()]
    lower = [(int(a, 16), int(b, 16)) for a, b in lower if "+" not in b]
    print("static const struct unicode_lower unicode_lowers[%d] = {" % len(lower))
    numbers(["{0x%X, 0x%X}" % x for x in lower], 6)
    print("};\n")
    print("/* Code points that Unicode 14 has not assigned, as items of a class in a pattern. */")
    print("struct unicode_newer {\n    const char *name;\n    const char *items;\n};")
    print("static const struct unicode_newer unicode_newers[%d] = {" % len(NEWER))
    for name, row in NEWER:
        new = ranges(p for p in points(rows[row]) if unicodedata.category(chr(p)) == "Cn")
        items = ["\\\\x{%X}" % a if a == b else "\\\\x{%X}-\\\\x{%X}" % (a, b) for a, b in new]
        print('    {"%s",' % name)
        for i in range(0, max(len(items), 1), 4):
            print('     "%s"' % "".join(items[i:i + 4]))
        print("    },")
    print("};\n/* clang-format on */\n\n#endif")


main()

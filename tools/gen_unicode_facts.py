#!/usr/bin/env python3
"""Asks the reference (PyPI package tokenizers 0.23.3) what its normalizers do with every single code point and writes
the sets as rows of data/unicode_classes.tsv that the regex classes there do not cover.

usage: gen_unicode_facts.py OLD.tsv >NEW.tsv      (rows of OLD.tsv with other names are kept)
rows: strip_accents  removed by StripAccents
      bert_accents   removed by BertNormalizer(strip_accents) and not decomposed
      nfkc_kept      NFKC of the reference keeps what Unicode 14 changes (its tables are older)
      nfkd_kept, nfd_kept  the same for NFKD and NFD
      nfc_check      a text without any of these is in NFC already
      lower_map      what Lowercase makes of it, FROM>TO[+TO]
"""
import sys
import unicodedata

from tokenizers import normalizers


def ranges(points):
    out = []
    for p in sorted(points):
        if out and out[-1][1] == p - 1:
            out[-1][1] = p
        else:
            out.append([p, p])
    return " ".join("%X" % a if a == b else "%X-%X" % (a, b) for a, b in out)


def main():
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    strip = normalizers.StripAccents()
    bert = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    lower = normalizers.Lowercase()
    rows = {}
    rows["strip_accents"] = [c for c in points if strip.normalize_str(chr(c)) == ""]
    rows["bert_accents"] = [c for c in points if bert.normalize_str(chr(c)) == ""]
    for form in ("NFKC", "NFKD", "NFD"):
        ref = getattr(normalizers, form)()
        rows[form.lower() + "_kept"] = [
            c for c in points
            if ref.normalize_str(chr(c)) == chr(c) and unicodedata.normalize(form, chr(c)) != chr(c)]
    second = set()
    for c in points:
        d = unicodedata.decomposition(chr(c))
        if d and not d.startswith("<"):
            parts = d.split()
            if len(parts) == 2:
                second.add(int(parts[1], 16))
    second |= set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    rows["nfc_check"] = [
        c for c in points
        if c in second or unicodedata.combining(chr(c)) or unicodedata.normalize("NFC", chr(c)) != chr(c)
        or (unicodedata.category(chr(c)) == "Cn")]
    lowered = [(c, lower.normalize_str(chr(c))) for c in points]
    lowered = ["%X>%s" % (c, "+".join("%X" % ord(x) for x in to)) for c, to in lowered if to != chr(c)]
    for line in open(sys.argv[1], encoding="utf-8"):
        if line.split("\t")[0] not in rows and not line.startswith("lower_map"):
            sys.stdout.write(line)
    for name, found in rows.items():
        print("%s\t%d\t%s" % (name, len(found), ranges(found)))
    print("lower_map\t%d\t%s" % (len(lowered), " ".join(lowered)))


main()

#!/usr/bin/env python3
"""Writes the compact data of the built-in encodings (data/*.enc) from tiktoken rank files.

usage: gen_encodings.py RANKS_DIR DATA_DIR

RANKS_DIR holds cl100k_base.tiktoken, o200k_base.tiktoken, p50k_base.tiktoken, r50k_base.tiktoken, for instance from the
crate tiktoken-rs 0.12.1 (folder assets); their sha256 are checked.  r50k_base is p50k_base without its last 24 tokens,
which is checked too, so it needs no data of its own.

Layout (little-endian): "VBENC2\\0\\0", u32 ids, u32 tokens, u32 bytes of all tokens, u32 literals; then two columns by id:
u24 left part, u24 right part; then the literals: u8 length each, then their bytes.  Left and right part are the two tokens
that merging joins last, both of a lower id, so that a token's bytes are those of tokens before it.  A left part of 0xFFFFFF
says that the token is the literal of the index on the right: single bytes, and what merging never makes.  0xFFFFFE: there
is no such id.  This script finds the parts by merging, and fails where the ranks do not allow the engine's proof
(src/tokenizer/bpe.c).
"""
import base64
import hashlib
import os
import struct
import sys

SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
}


def read(folder, name):
    with open(os.path.join(folder, name + ".tiktoken"), "rb") as f:
        text = f.read()
    if hashlib.sha256(text).hexdigest() != SHA256[name]:
        sys.exit("%s: wrong sha256" % name)
    ranks = {}
    for line in text.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    return ranks


def parts(token, ranks):
    """What merging makes of the token's bytes with ranks below its own."""
    limit = ranks[token]
    cut = [token[i:i + 1] for i in range(len(token))]
    while len(cut) > 1:
        best, at = limit, -1
        for i in range(len(cut) - 1):
            rank = ranks.get(cut[i] + cut[i + 1], limit)
            if rank < best:
                best, at = rank, i
        if at < 0:
            break
        cut[at:at + 2] = [cut[at] + cut[at + 1]]
    return cut


LITERAL, NO_TOKEN = 0xFFFFFF, 0xFFFFFE


def write(path, ranks):
    by_id = {rank: token for token, rank in ranks.items()}
    left, right, literals = bytearray(), bytearray(), []
    for rank in range(max(by_id) + 1):
        token = by_id.get(rank)
        cut = parts(token, ranks) if token is not None else []
        if token is None:
            pair = NO_TOKEN, 0
        elif len(cut) == 2:
            pair = ranks[cut[0]], ranks[cut[1]]
        else:
            pair = LITERAL, len(literals)
            literals.append(token)
        left += struct.pack("<I", pair[0])[:3]
        right += struct.pack("<I", pair[1])[:3]
        if len(cut) > 2:
            late = [i for i in range(1, len(token))
                    if ranks.get(token[:i], -1) >= 0 and ranks.get(token[i:], -1) >= 0
                    and max(ranks[token[:i]], ranks[token[i:]]) > rank]
            if late:
                sys.exit("%s: %r ranks before a part of it" % (path, token))
            print("%s: merging never makes %r" % (path, token))
    with open(path, "wb") as f:
        f.write(b"VBENC2\0\0" + struct.pack("<IIII", max(by_id) + 1, len(ranks), sum(map(len, ranks)), len(literals)))
        f.write(left + right + bytes(map(len, literals)) + b"".join(literals))
    print("%s: %d tokens, %d bytes" % (path, len(ranks), os.path.getsize(path)))


def main():
    source, target = sys.argv[1:3]
    p50k, r50k = read(source, "p50k_base"), read(source, "r50k_base")
    if r50k != {token: rank for token, rank in p50k.items() if rank < 50256}:
        sys.exit("r50k_base is not the beginning of p50k_base")
    write(os.path.join(target, "p50k_base.enc"), p50k)
    for name in ("cl100k_base", "o200k_base"):
        write(os.path.join(target, name + ".enc"), read(source, name))


main()

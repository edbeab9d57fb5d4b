#!/usr/bin/env python3
"""Makes rerank.prompts, no_reranker.prompts and burstgpt.rows: DATASETS 2 and 6 with numpy's own generators and the
`tokenizers` library.  Run in this folder; needs numpy and tokenizers (made with 2.4.6 and 0.23.3)."""
import csv
import json
import math

import numpy as np
from tokenizers import Tokenizer

TOK = Tokenizer.from_file("../tok-mini/tokenizer.json")
VOCAB = TOK.get_vocab_size(with_added_tokens=False)


def encode(text):
    return TOK.encode(text, add_special_tokens=False).ids


def decode(ids):
    return TOK.decode(ids, skip_special_tokens=False)


def fit(rng, ids, target):
    for left in range(10, -1, -1):
        text = decode(ids)
        ids = encode(text)
        if left == 0 or len(ids) == target:
            break
        if len(ids) < target:
            ids += rng.integers(0, VOCAB, size=target - len(ids)).tolist()
        ids = ids[:target]
    return text, len(ids)


def lengths(rng, count, ratio, length):
    ins = rng.integers(math.floor(length * (1 - ratio)), math.ceil(length * (1 + ratio)) + 1, size=count)
    return ins, rng.integers(0, VOCAB, size=count)


def rerank(seed, count, length, ratio, batch, is_reranker):
    rng = np.random.default_rng(seed)
    query_len, query_at = lengths(rng, 1, ratio, length // 2 - 1 if is_reranker else length)
    count, batch = (count, batch) if is_reranker else (count - 1, batch - 1)
    doc_len = length - int(query_len[0]) - 1 if is_reranker else length
    doc_lens, doc_ats = lengths(rng, count, ratio, doc_len)

    def text(index, at, size):
        return fit(rng, [int((at + index + j) % VOCAB) for j in range(size)], size)

    query = text(0, int(query_at[0]), int(query_len[0]))
    docs = [text(i + 1, int(doc_ats[i]), int(doc_lens[i])) for i in range(count)]
    for i in range(0, count, batch):
        group = docs[i:i + batch]
        total = (query[1] + 1) * len(group) if is_reranker else query[1]
        yield total + sum(d[1] for d in group), [query[0]] + [d[0] for d in group]


def burst(seed, count):
    with open("burstgpt.csv", encoding="utf-8") as file:
        rows = [r for r in list(csv.reader(file))[1:] if r[1] == "GPT-4" and int(r[3]) > 0]
    state = np.random.RandomState(seed)
    picked = state.choice(len(rows), size=count, replace=count > len(rows))
    return [(int(rows[k][2]), int(rows[k][3])) for k in picked]


for name, kind in (("rerank", True), ("no_reranker", False)):
    with open(name + ".prompts", "w", encoding="utf-8") as out:
        for total, prompt in rerank(2, 9, 40, 0.2, 4, kind):
            out.write(f"{total} {json.dumps(prompt, ensure_ascii=False, separators=(',', ':'))}\n")
with open("burstgpt.rows", "w", encoding="utf-8") as out:
    for seed, count in ((0, 4), (3, 5), (9, 20)):
        out.write(f"{seed} " + " ".join(f"{a}:{b}" for a, b in burst(seed, count)) + "\n")

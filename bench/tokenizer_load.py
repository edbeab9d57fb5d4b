#!/usr/bin/env python3
"""What loading a tokenizer costs: time until the first text is encoded, CPU, and memory against
the size of the vocabulary.

  bench/tokenizer_load.py /path/of/qwen3 cl100k_base ...
  bench/tokenizer_load.py --peer PYTHON --ranks DIR /path/of/qwen3 o200k_base ...

Each figure is the median of fresh processes, ours and the peer's in turn.  The peer is the library
of the reference, imported before the clock starts: HF tokenizers for a folder with tokenizer.json,
tiktoken for a built-in encoding (its rank files are read from --ranks).  'vocabulary' is what it
takes in its file: the member model.vocab of tokenizer.json, or the rank file.  Memory is what the
process grew by.  The ids of the text must agree.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = "Loading is done when this text has its ids: 12345, naïve, 你好."

PEER = """
import json, os, resource, sys, time
name, text, ranks = sys.argv[1:4]
if os.path.isdir(name):
    from tokenizers import Tokenizer
    def load():
        t = Tokenizer.from_file(os.path.join(name, "tokenizer.json"))
        t.no_padding()
        t.no_truncation()
        return t.encode(text, add_special_tokens=False).ids
else:
    import tiktoken, tiktoken.load, regex
    def read(path, hash=None):
        with open(os.path.join(ranks, os.path.basename(path)), "rb") as f:
            return f.read()
    tiktoken.load.read_file = tiktoken.load.read_file_cached = read
    def load():
        return tiktoken.get_encoding(name).encode(text)
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()
before, cpu, start = resident(), time.process_time(), time.perf_counter()
ids = load()
print(json.dumps({"wall_ms": (time.perf_counter() - start) * 1e3,
                  "cpu_ms": (time.process_time() - cpu) * 1e3,
                  "rss": resident() - before, "ids": ids}))
"""


def vocabulary_bytes(name, rank_file_bytes):
    """Bytes of the vocabulary in its file."""
    path = pathlib.Path(name) / "tokenizer.json"
    if not path.exists():
        return rank_file_bytes
    text = path.read_text(encoding="utf-8")
    at = text.index('"vocab"', text.index('"model"')) + len('"vocab"')
    while text[at] not in "{[":
        at += 1
    end = json.JSONDecoder().raw_decode(text, at)[1]
    return len(text[at:end].encode())


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def median(runs, key):
    return statistics.median(r[key] for r in runs)


def row(client, runs, vocabulary):
    rss = median(runs, "rss")
    return (f"  {client:<6} wall {median(runs, 'wall_ms'):8.1f} ms   best "
            f"{min(r['wall_ms'] for r in runs):8.1f} ms   CPU {median(runs, 'cpu_ms'):8.1f} ms   "
            f"memory {rss / 1e6:6.1f} MB = {rss / vocabulary:5.2f} x vocabulary")


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=str(ROOT / "build"), metavar="DIR",
                   help="build folder with the target 'benches' [build]")
    p.add_argument("--peer", metavar="PYTHON", help="an interpreter that has the peers")
    p.add_argument("--ranks", default="", metavar="DIR", help="rank files for tiktoken")
    p.add_argument("--runs", type=int, default=7, metavar="N", help="[%(default)s]")
    p.add_argument("names", nargs="*", metavar="TOKENIZER",
                   default=["cl100k_base", "o200k_base", "p50k_base", "gpt2"])
    o = p.parse_args()
    tool = pathlib.Path(o.build) / "bench" / "load_tokenizer"
    if not tool.exists():
        sys.exit(f"bench: {tool} is missing; ninja -C {o.build} benches")
    wrong = 0
    for name in o.names:
        ours, peers = [], []
        for _ in range(o.runs):
            ours.append(run([str(tool), name, TEXT]))
            if ours[-1] is None:
                sys.exit(f"bench: '{name}' does not load")
            if o.peer:
                peers.append(run([o.peer, "-c", PEER, name, TEXT, o.ranks]))
        vocabulary = vocabulary_bytes(name, ours[0]["rank_file_bytes"])
        print(f"{name}: vocabulary of {vocabulary / 1e6:.2f} MB")
        print(row("ours", ours, vocabulary))
        if not peers or None in peers:
            continue
        print(row("peer", peers, vocabulary))
        same = peers[0]["ids"] == run([str(tool), name, TEXT, "plain"])["ids"]
        wrong += not same
        ratio = statistics.median(b["cpu_ms"] / a["cpu_ms"] for a, b in zip(ours, peers))
        print(f"  CPU of the peer is {ratio:.1f} times ours; ids "
              f"{'agree' if same else 'DIFFER'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

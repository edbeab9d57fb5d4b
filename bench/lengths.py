#!/usr/bin/env python3
"""Are prompts as long as promised?  For every tokenizer folder: random prompts of 1 to 32k tokens are made with --dry-run
--save-workload and counted again with `vllm-bench tokenize`, special tokens included when the workload's lengths include them.
Every prompt must have the length that the workload states for it; how many of these differ from the length asked for (a
surplus, which a dry run reports) is counted too.

Use: lengths.py --bin build/vllm-bench [--prompts 1000] [--seed 0] FOLDER...
Exits 1 when a stated length is wrong."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

# Length asked for, and its share of the prompts: short lengths are cheap, so most prompts are short.
LENGTHS = ((4, 0.2), (16, 0.2), (100, 0.2), (1000, 0.25), (8192, 0.13), (32768, 0.02))


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit("%s\nfailed: %s" % (" ".join(command), done.stderr.strip()[-600:]))
    return done.stdout + done.stderr


def make(args, folder, length, count, path):
    return run([args.bin, "bench", "serve", "--dry-run", "--backend", "openai", "--model", "m", "--tokenizer", folder,
                "--dataset-name", "random", "--num-prompts", str(count), "--random-input-len", str(length),
                "--random-output-len", "1", "--random-range-ratio", "0.5", "--seed", str(args.seed),
                "--save-workload", path])


def counts(args, folder, texts, special):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    extra = ["--add-special-tokens"] if special else []
    out = run([args.bin, "tokenize", "--tokenizer", folder, "--jsonl"] + extra, input=lines)
    return [len(json.loads(line)["ids"]) for line in out.splitlines() if line.startswith("{")]


def check(args, folder, scratch):
    total = wrong = 0
    offs = collections.Counter()
    said = 0
    for length, share in LENGTHS:
        path = os.path.join(scratch, "w.jsonl")
        report = make(args, folder, length, max(1, round(args.prompts * share)), path)
        said += "mismatch" in report or "surplus" in report
        with open(path, encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if "prompt" in row]
        found = counts(args, folder, [row["prompt"] for row in rows], False)
        assert len(found) == len(rows), (len(found), len(rows))
        for row, real in zip(rows, found):
            total += 1
            if real != row["prompt_len"]:
                wrong += 1
                offs[real - row["prompt_len"]] += 1
    print("%-24s %5d prompts, %d of another length than stated %s%s" %
          (os.path.basename(folder.rstrip("/")), total, wrong, dict(offs) if offs else "",
           ", surplus reported in %d runs" % said if said else ""), flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--prompts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        wrong = sum(check(args, folder, scratch) for folder in args.folders)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

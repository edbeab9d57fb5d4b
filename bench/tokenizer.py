#!/usr/bin/env python3
"""The tokenizer beside other libraries: the same texts, one core, processes in turn.

  bench/tokenizer.py [--python PYTHON] [--tokenizers FOLDER] [--runs N]

Documents are Python's own sources and texts of this machine, in pieces of 2 KB; prompts are 64
texts of 8192 random tokens each.  Every repetition is a process of its own, so the first pass has
cold word caches; figures are MB of UTF-8 per second of that process's CPU, the best of the runs, and a
library's figure is the better one of its single and its batch call.  PYTHON is an interpreter that
can import some of gigatoken, quicktok, splintr, bpe_openai, tuetoken; what it lacks is left out.
Libraries give Python lists of ids, as their users get them; gigatoken-arrays is a call without.
FOLDER holds a folder with a tokenizer.json for each encoding: cl100k, o200k, llama3, qwen3 (or
their names in FILES below); without it only the built-in ones are measured.
"""

import argparse
import array
import glob
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FILES = {"cl100k": "gpt35turbo", "o200k": "gpt4o", "llama3": "llama3_1", "qwen3": "qwen3"}
ARRAYS = "gigatoken-arrays"  # its batch call without Python lists: no library gives ids faster
BUILTIN = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
LIBRARIES = ("gigatoken", "quicktok", "splintr", "bpe_openai", "tuetoken", ARRAYS)
TARGETS = {"docs": 1.0, "docs with loading": 1.0, "random": 1.5, "decode docs": 1.0,
           "decode random": 1.0}


def read_texts(path):
    raw = pathlib.Path(path).read_bytes()
    count, at, texts = struct.unpack_from("I", raw)[0], 4, []
    for _ in range(count):
        size = struct.unpack_from("I", raw, at)[0]
        texts.append(raw[at + 4:at + 4 + size].decode())
        at += 4 + size
    return texts


def write_lists(path, lists):
    with open(path, "wb") as f:
        f.write(struct.pack("I", len(lists)))
        for items in lists:
            data = items if isinstance(items, bytes) else array.array("I", items).tobytes()
            f.write(struct.pack("I", len(items)) + data)


def read_ids(path):
    raw = pathlib.Path(path).read_bytes()
    count, at, lists = struct.unpack_from("I", raw)[0], 4, []
    for _ in range(count):
        size = struct.unpack_from("I", raw, at)[0]
        lists.append(raw[at + 4:at + 4 + 4 * size])
        at += 4 + 4 * size
    return lists


# ---- in a process of its own, run by PYTHON ------------------------------------------------------

def open_library(name, encoding, path):
    """Functions to encode one text, to encode many, to decode one list of ids."""
    names = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
    if name == "gigatoken":
        import gigatoken
        t = gigatoken.Tokenizer(path)
        return t.encode, lambda x: t.encode_batch_list(x, parallel=False), t.decode
    if name == "quicktok":
        import quicktok
        names |= {"qwen3": "qwen", "llama3": "llama3"}
        t = quicktok.get_encoding(names[encoding])
        return t.encode_ordinary, lambda x: t.encode_batch(x, threads=1), t.decode
    if name == "splintr":
        import splintr
        t = splintr.Tokenizer.from_pretrained(names.get(encoding, encoding))
        return getattr(t, "encode_ordinary", t.encode), t.encode_batch, t.decode_lossy
    if name == "bpe_openai":
        import bpe_openai
        t = bpe_openai.get_encoding(names[encoding])
        return t.encode_ordinary, t.encode_ordinary_batch, t.decode
    import tuetoken
    t = tuetoken.Tokenizer(path)
    return t.encode_ordinary, t.encode_ordinary_batch, t.decode


def work_arrays(timed, path, texts, ids_path):
    import gigatoken
    def load():
        tokenizer = gigatoken.Tokenizer(path)
        tokenizer.encode_batch(["x"], parallel=False)
        return tokenizer
    t = timed("load", load)
    ids = timed("encode", lambda: t.encode_batch(texts, parallel=False))
    timed("again", lambda: t.encode_batch(texts, parallel=False))
    write_lists(ids_path, ids.to_list())


def work(library, encoding, path, texts_path, ids_path, batch):
    def timed(name, function):
        began = time.process_time()
        result = function()
        print(name, time.process_time() - began, 0)
        return result
    texts = read_texts(texts_path)
    if library == ARRAYS:
        if not batch:
            work_arrays(timed, path, texts, ids_path)
        return
    def load():
        functions = open_library(library, encoding, path)
        functions[0]("x")  # some make their tables only now
        return functions
    one, many, decode = timed("load", load)
    if batch:
        timed("batch", lambda: many(texts))
        return
    ids = timed("encode", lambda: [one(x) for x in texts])
    timed("again", lambda: [one(x) for x in texts])
    ids = [list(x) for x in ids]
    timed("decode", lambda: [decode(x) for x in ids])
    write_lists(ids_path, ids)


# ---- the bench -----------------------------------------------------------------------------------

def documents(limit):
    """Half code, half prose, in pieces of about 2 KB that end with a line."""
    code = sorted(glob.glob(sysconfig.get_paths()["stdlib"] + "/*.py"))
    code += sorted(glob.glob(sysconfig.get_paths()["stdlib"] + "/*/*.py"))
    prose = sorted(glob.glob("/usr/share/common-licenses/*"))
    prose += sorted(glob.glob("/usr/share/doc/**/*.md", recursive=True))
    prose += sorted(glob.glob("/usr/share/doc/*/copyright"))
    made = []
    for paths in (code, prose):
        size = 0
        for path in paths:
            try:
                text = pathlib.Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if "<|" in text:  # libraries differ in what they do with special tokens
                continue
            start = 0
            while start < len(text) and size < limit // 2:
                end = text.rfind("\n", start + 1500, start + 2048) + 1
                if end == 0 or len(text) - start <= 2048:
                    end = min(len(text), start + 2048)
                made.append(text[start:end].encode())
                size += len(made[-1])
                start = end
    return made


class Bench:
    def __init__(self, options, folder):
        self.o = options
        self.folder = pathlib.Path(folder)
        self.encode = options.build / "bench" / "encode"
        self.libraries = [name for name in LIBRARIES if self.imports(name)]

    def imports(self, name):
        return subprocess.run([self.o.python, "-c", f"import {name.split('-')[0]}"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def path(self, encoding):
        for name in (encoding, FILES[encoding]):
            file = self.o.tokenizers / name / "tokenizer.json" if self.o.tokenizers else None
            if file is not None and file.is_file():
                return str(file)
        return None

    def run(self, command, cores):
        environment = dict(os.environ, RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
        done = subprocess.run(["taskset", "-c", cores, *map(str, command)], check=False,
                              capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            return None
        rows = [line.split() for line in done.stdout.splitlines()]
        return [(name, float(cpu), float(wall)) for name, cpu, wall in rows]

    def figures(self, library, encoding, texts, ids):
        """Seconds by name, of one repetition; None when the library cannot do this encoding."""
        path = self.path(encoding)
        core = str(self.o.core)
        if library == "vllm-bench":
            rows = self.run([self.encode, path or BUILTIN[encoding], texts, ids, 1], core)
            return rows and {name: cpu for name, cpu, _ in rows}
        if path is None and library in ("gigatoken", "tuetoken", ARRAYS):
            return None
        worker = [self.o.python, HERE / "tokenizer.py", "--worker", library, encoding, path or "-",
                  texts, ids]
        rows = self.run([*worker, "single"], core)
        more = rows and self.run([*worker, "batch"], core)
        return rows and {name: cpu for name, cpu, _ in rows + (more or [])}

    def texts(self, encoding):
        docs = self.folder / "docs"
        if not docs.exists():
            write_lists(docs, documents(self.o.bytes))
        random = self.folder / f"random-{encoding}"
        subprocess.run([self.encode, self.path(encoding) or BUILTIN[encoding], random, "draw",
                        str(self.o.tokens)], check=True, stdout=subprocess.DEVNULL)
        return {"docs": docs, "random": random}

    def measure(self, encoding):
        """Best MB/s by library and figure, floors of ours, and how many texts differ from ours."""
        speeds = {name: {} for name in ("vllm-bench", *self.libraries)}
        for kind, texts in self.texts(encoding).items():
            size = texts.stat().st_size
            seconds = {name: {} for name in speeds}
            for _ in range(self.o.runs):
                for name, by_figure in seconds.items():
                    ids = self.folder / f"ids-{name}"
                    for figure, s in (self.figures(name, encoding, texts, ids) or {}).items():
                        by_figure.setdefault(figure, []).append(s)
            ours = read_ids(self.folder / "ids-vllm-bench")
            for name, by_figure in seconds.items():
                row = speeds[name]
                for figure, values in by_figure.items():
                    row[f"{figure} {kind}"] = size / min(values) / 1e6
                    row[f"{figure} {kind} median"] = size / statistics.median(values) / 1e6
                if "encode" not in by_figure:
                    continue
                row[f"{kind} with loading"] = size / (min(by_figure["load"]) +
                                                      min(by_figure["encode"])) / 1e6
                row[kind] = max(row[f"encode {kind}"], row.get(f"batch {kind}", 0))
                theirs = read_ids(self.folder / f"ids-{name}")
                row[f"{kind} differ"] = sum(a != b for a, b in zip(ours, theirs))
        return speeds

    def threads(self, encoding, texts):
        """How much faster two threads are than one by the clock, and how much CPU they use."""
        clock = []
        cpu = []
        for _ in range(max(3, self.o.runs)):
            rows = self.run([self.encode, self.path(encoding) or BUILTIN[encoding], texts, "-", 2],
                            f"{self.o.core},{self.o.core ^ 1}")
            one, two = [row for row in rows if row[0] == "batch"]
            clock.append(one[2] / two[2])
            cpu.append(two[1] / one[1])
        return max(clock), statistics.median(cpu)


def show(encoding, speeds):
    print(f"\n{encoding:14s}{'docs':>7s}{'(median)':>10s}{'again':>8s}{'random':>8s}{'(median)':>10s}"
          f"{'again':>8s}{'decode docs':>13s}{'random':>8s}{'differ':>12s}")
    for name, row in speeds.items():
        if "docs" not in row or "random" not in row:
            print(f"{name:14s}  not for this encoding")
            continue
        print(f"{name:14s}{row['docs']:7.1f}{row['encode docs median']:10.1f}"
              f"{row['again docs']:8.1f}{row['random']:8.1f}{row['encode random median']:10.1f}"
              f"{row['again random']:8.1f}{row.get('decode docs', 0):13.0f}"
              f"{row.get('decode random', 0):8.0f}"
              f"{row['docs differ']:6d}{row['random differ']:6d}")
    ours = speeds["vllm-bench"]
    for figure, target in TARGETS.items():
        others = {name: row[figure] for name, row in speeds.items()
                  if name not in ("vllm-bench", ARRAYS) and figure in row}
        if not others:
            continue
        fastest = max(others, key=others.get)
        ratio = ours[figure] / others[fastest]
        line = f"  {figure:18s}{ratio:6.2f} of {fastest}, target {target:g}"
        if ratio < target:
            kind = "random" if "random" in figure else "docs"
            line += f": missed; cutting alone runs at {ours.get('split ' + kind, 0):.0f} MB/s"
        print(line)
        if figure in speeds.get(ARRAYS, {}):
            print(f"  {'':18s}{ours[figure] / speeds[ARRAYS][figure]:6.2f} of {ARRAYS}")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build")
    p.add_argument("--python", default=sys.executable, help="[this one]")
    p.add_argument("--tokenizers", type=pathlib.Path, metavar="FOLDER")
    p.add_argument("--encodings", default=",".join(FILES), metavar="LIST", help="[%(default)s]")
    p.add_argument("--runs", type=int, default=5, metavar="N", help="[%(default)s]")
    p.add_argument("--core", type=int, default=0, metavar="N", help="[%(default)s]")
    p.add_argument("--bytes", type=int, default=10_000_000, metavar="N",
                   help="of documents [%(default)s]")
    p.add_argument("--tokens", type=int, default=8192, metavar="N", help="a prompt [%(default)s]")
    p.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all figures")
    p.add_argument("--short", action="store_true", help="a fifth of the texts, two runs")
    p.add_argument("--peer", help=argparse.SUPPRESS)  # bench/run hands it to all benches
    o = p.parse_args()
    if o.short:
        o.runs, o.bytes, o.tokens = 2, o.bytes // 5, o.tokens // 4
    return o


def main():
    if sys.argv[1:2] == ["--worker"]:
        library, encoding, path, texts, ids, mode = sys.argv[2:8]
        work(library, encoding, path, texts, ids, mode == "batch")
        return
    o = parse()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(o, folder)
        print(f"tokenizer: MB of UTF-8 per CPU second on core {o.core}, best of {o.runs} runs; "
              f"differ: texts whose ids are not ours, documents and prompts")
        missing = [name for name in LIBRARIES if name not in bench.libraries]
        if missing:
            print(f"not importable by {o.python}, left out: {', '.join(missing)}")
        everything = {}
        for encoding in o.encodings.split(","):
            if bench.path(encoding) is None and encoding not in BUILTIN:
                print(f"\n{encoding}: no tokenizer.json (--tokenizers FOLDER), left out")
                continue
            speeds = everything[encoding] = bench.measure(encoding)
            show(encoding, speeds)
            if os.cpu_count() > 1:
                clock, cpu = bench.threads(encoding, bench.folder / "docs")
                speeds["threads"] = {"clock": clock, "cpu": cpu}
                print(f"  two threads       {clock:6.2f} of one by the clock, target 1.8; {2 / cpu:.2f} "
                      f"by the CPU time that both use, as on cores that nobody else uses")
        if o.json:
            o.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()

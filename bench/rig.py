"""What the end-to-end benches share: a mock server of its own process, clients run one after the
other under bench/measure, and figures as medians and as ratios of neighbours.

All clients of a table run alternately against the same server, so a ratio compares two runs that
are seconds apart; on a busy machine only the ratios mean something.
"""

import argparse
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "bench-rig-"
INPUT_TOKENS = 8


def parser(description):
    """The options that every bench has."""
    p = argparse.ArgumentParser(description=description,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=str(ROOT / "build"), metavar="DIR",
                   help="build folder with vllm-bench and the target 'benches' [build]")
    p.add_argument("--client", metavar="COMMAND",
                   help="our client [DIR/vllm-bench bench serve]")
    p.add_argument("--peer", metavar="COMMAND",
                   help="a second client with the same flags, for example "
                        "'vllm-rs bench serve --tokenizer x'")
    p.add_argument("--runs", type=int, default=3, metavar="N",
                   help="runs of each client, alternating [3]")
    p.add_argument("--short", action="store_true", help="one quick run, as in make bench")
    return p


class Rig:
    """One bench's work folder, programs and server."""

    def __init__(self, options, mock_flags):
        self.build = pathlib.Path(options.build)
        self.program = self.build / "vllm-bench"
        self.clients = {"ours": shlex.split(options.client) if options.client
                        else [str(self.program), "bench", "serve"]}
        if options.peer:
            self.clients["peer"] = shlex.split(options.peer)
        for tool in (self.program, self.tool("floor"), self.tool("measure")):
            if not tool.exists():
                sys.exit(f"bench: {tool} is missing; ninja -C {self.build} vllm-bench benches")
        self.folder = tempfile.TemporaryDirectory(prefix="vllm-bench-")
        self.server = subprocess.Popen(
            [str(self.program), "mock-server", "--port", "0", *mock_flags],
            stdout=subprocess.PIPE, text=True)
        line = self.server.stdout.readline()
        if not line.startswith("listening on "):
            sys.exit("bench: the mock server did not start")
        self.url = line.split()[-1]

    def tool(self, name):
        return self.build / "bench" / name

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.terminate()
        self.server.wait()
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run(self, name, streams, requests, tokens, detailed=False):
        """Runs one client; what it used, and its result with `detailed`."""
        result = self.path("result.json")
        if os.path.exists(result):
            os.remove(result)
        if name == "floor":
            command = [str(self.tool("floor")), self.url.rsplit(":", 1)[1], str(streams),
                       str(requests), str(tokens)]
            if detailed:
                command += [result, PREFIX]
        else:
            command = self.clients[name] + serve_flags(self.url, streams, requests, tokens)
            command += ["--save-result", "--result-dir", self.folder.name,
                        "--result-filename", "result.json"]
            if detailed:
                command += ["--save-detailed", "--request-id-prefix", PREFIX]
        done = subprocess.run([str(self.tool("measure")), self.path("used"), *command],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {shlex.join(command)}\nended with status {done.returncode}:\n"
                     + done.stdout[-2000:])
        user, system, peak_kib, wall = open(self.path("used"), encoding="ascii").read().split()
        used = {"cpu_s": float(user) + float(system), "user_s": float(user),
                "rss_mib": int(peak_kib) / 1024, "wall_s": float(wall)}
        if os.path.exists(result):
            with open(result, encoding="utf-8") as f:
                used["result"] = json.load(f)
            if name != "floor" and used["result"].get("completed") != requests:
                print(f"note: {name} completed {used['result'].get('completed')} of {requests}")
        return used

    def truth(self):
        """The server's records of the bench's requests by number; the server forgets them."""
        with urllib.request.urlopen(self.url + "/truth") as reply:
            records = [json.loads(line) for line in reply]
        urllib.request.urlopen(urllib.request.Request(self.url + "/truth", method="DELETE")).close()
        found = {}
        for record in records:
            number = record["id"].removeprefix(PREFIX)
            if number != record["id"] and number.isdigit():
                found[int(number)] = record
        return found


def serve_flags(url, streams, requests, tokens):
    """Prompts are a few token ids, so that building the data set costs next to nothing."""
    return ["--backend", "openai", "--base-url", url, "--model", "mock-model",
            "--dataset-name", "random", "--prompt-token-ids",
            "--random-input-len", str(INPUT_TOKENS), "--random-output-len", str(tokens),
            "--num-prompts", str(requests), "--max-concurrency", str(streams),
            "--request-rate", "inf", "--ignore-eos", "--disable-tqdm",
            "--percentile-metrics", "ttft,tpot,itl,e2el"]


def percentile(values, p):
    """The smallest value that at least p percent are not above."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(p / 100 * len(ordered)) - 1)]


def pair_ratios(runs, name, other, key):
    """The median of the ratios name/other of the runs that were made side by side."""
    ratios = [a[key] / b[key] for a, b in zip(runs[name], runs[other]) if b[key] > 0]
    return statistics.median(ratios) if ratios else math.nan


def alternate(names, count, run):
    """run(name) `count` times for each name, the names in turn."""
    runs = {name: [] for name in names}
    for _ in range(count):
        for name in names:
            runs[name].append(run(name))
    return runs


def median(runs, name, key):
    return statistics.median(run[key] for run in runs[name])


def machine():
    """One line of facts about the machine."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{len(os.sched_getaffinity(0))} cores, {model}, {memory:.0f} GiB, "
            f"Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}")

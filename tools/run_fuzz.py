#!/usr/bin/env python3
"""Runs every libFuzzer target of a build folder for some seconds.

  tools/run_fuzz.py [--seconds N] [--jobs N] BUILD [TARGET...]

BUILD was set up with -Dfuzzers=true.  New inputs go to BUILD/corpus/<name>, what crashed to
BUILD/found/<name>-...; seeds are fuzz/corpus/<name>.  Ends with `N passed, N failed`; exit status
1 when a target found something.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def targets(build):
    listed = subprocess.run(["meson", "introspect", str(build), "--targets"], check=True,
                            capture_output=True, text=True)
    return {target["name"][len("fuzz_"):]: target["filename"][0]
            for target in json.loads(listed.stdout)
            if target["type"] == "executable" and target["name"].startswith("fuzz_")}


def run(build, name, program, seconds):
    """(found something, report)"""
    seeds = ROOT / "fuzz" / "corpus" / name
    grown, found = build / "corpus" / name, build / "found"
    grown.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    environment = dict(os.environ)
    symbolizer = shutil.which("llvm-symbolizer-14") or shutil.which("llvm-symbolizer")
    if symbolizer:
        environment.setdefault("ASAN_SYMBOLIZER_PATH", symbolizer)
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    command = [program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
               f"-artifact_prefix={found}/{name}-", "-print_final_stats=1", str(grown)]
    if seeds.is_dir():
        command.append(str(seeds))
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=environment, timeout=seconds + 120, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = -1, (late.stdout or b"").decode(errors="replace") + "\nstill running"
    if status == 0:
        units = re.search(r"number_of_executed_units:\s*(\d+)", output)
        return False, f"fuzz_{name}: {units.group(1) if units else '?'} inputs, nothing found"
    return True, f"fuzz_{name}: FAILED (status {status})\n" + "\n".join(output.splitlines()[-60:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    build = options.build.resolve()
    known = targets(build)
    chosen = options.targets or sorted(known)
    for name in chosen:
        if name not in known:
            sys.exit(f"run_fuzz: no target '{name}'; there are: {' '.join(sorted(known))}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(run, build, name, known[name], options.seconds) for name in chosen]
        for done in concurrent.futures.as_completed(runs):
            found, report = done.result()
            failed += found
            print(report, flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the tests of a build folder and the static checks; ends with one line of counts.

  tools/run_checks.py [--before COMMAND]... [--tests DIR] [--release PROGRAM] [--static] [--threads]
                      [-- MESON_TEST_ARG...]

--before   what to run first, such as the build; that it fails counts as one failure, and what can
           still be checked is checked
--tests    a Meson build folder that is up to date: all its tests
--threads  of these only the tests of rooms that start threads, and the end-to-end tests
--release  the shipped program: its size, its start without network, home and environment
--static   layers, style, headers

A program that speaks TAP counts with its single tests, any other as one.  The last line is
`N passed, N failed` with `, N skipped` when some were; exit status 1 when one failed or none ran.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREAD_SUITES = {"load", "net", "mock", "e2e"}
STATIC = ["check_layers.py", "check_style.py", "check_headers"]
TAP_PLAN = re.compile(r"^1\.\.\d+", re.M)
TAP_LINE = re.compile(r"^(not )?ok\b(.*)$", re.M)
TAP_SKIP = re.compile(r"#\s*(skip|todo)", re.I)


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def line(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def say(text):
    print(text, flush=True)


def count_program(result, counts):
    """Adds one test program: a line of Meson's testlog.json."""
    name, verdict, output = result["name"], result["result"], result.get("stdout") or ""
    failed = skipped = passed = 0
    if TAP_PLAN.search(output):
        for line in TAP_LINE.finditer(output):
            # cmocka 1.1.5 writes "not ok 3 # SKIP" for a skipped test, which Meson takes for a
            # failure.
            if TAP_SKIP.search(line.group(2)):
                skipped += 1
            elif line.group(1):
                failed += 1
            else:
                passed += 1
    good = verdict in ("OK", "EXPECTEDFAIL", "SKIP")
    only_skips = verdict == "FAIL" and result.get("returncode") == 0 and skipped > 0
    if not good and failed == 0 and not only_skips:
        failed = 1
    elif verdict == "SKIP" and passed == 0:
        skipped = max(skipped, 1)
    elif good and passed + failed + skipped == 0:
        passed = 1
    if failed:
        say(f"failed: {name} ({verdict.lower()})")
    counts.passed += passed
    counts.failed += failed
    counts.skipped += skipped


def listed_tests(build):
    """(name, whether it is built, whether it is of a room that starts threads or end to end)."""
    listed = subprocess.run(["meson", "introspect", str(build), "--tests"], check=True,
                            capture_output=True, text=True)
    for test in json.loads(listed.stdout):
        programs = [pathlib.Path(word) for word in test["cmd"] if word.startswith(f"{build}/")]
        marks = {suite.split(":")[-1] for suite in test["suite"]}
        for program in programs:
            marks.update(program.parts[-3:-1])
        yield (test["name"], all(program.exists() for program in programs),
               bool(THREAD_SUITES & marks))


def chosen_tests(build, only_threads, counts):
    """Names to give to meson test; empty means all.  What was not built counts as failed."""
    names, left_out = set(), False
    for name, built, threads in listed_tests(build):
        if only_threads and not threads:
            left_out = True
        elif not built:
            left_out = True
            counts.failed += 1
            say(f"failed: {name} (not built)")
        else:
            names.add(name)
    return names, left_out


def run_tests(build, only_threads, extra, counts):
    try:
        names, left_out = chosen_tests(build, only_threads, counts)
    except (subprocess.CalledProcessError, json.JSONDecodeError):
        say(f"failed: '{build}' is not a configured build folder")
        counts.failed += 1
        return
    if not names:
        say("no test to run")
        return
    log = build / "meson-logs" / "check.json"
    log.unlink(missing_ok=True)
    done = subprocess.run(["meson", "test", "-C", str(build), "--no-rebuild", "--logbase", "check",
                           "--print-errorlogs", *extra, *(sorted(names) if left_out else [])],
                          stdin=subprocess.DEVNULL, check=False)
    if not log.exists():
        say("failed: meson test left no results")
        counts.failed += 1
        return
    before = counts.failed
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            count_program(json.loads(line), counts)
    if done.returncode < 0 and counts.failed == before:
        say(f"failed: meson test ended by signal {-done.returncode}")
        counts.failed += 1


def run_script(command, counts):
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        counts.passed += 1
    elif done.returncode == 77:
        counts.skipped += 1
    else:
        say(f"failed: {os.path.basename(command[0])}")
        counts.failed += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", action="append", default=[])
    parser.add_argument("--tests", type=pathlib.Path)
    parser.add_argument("--release", type=pathlib.Path)
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("extra", nargs="*")
    options = parser.parse_args()
    counts = Counts()
    for command in options.before:
        if subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, check=False).returncode:
            say(f"failed: {command}")
            counts.failed += 1
    if options.static:
        for name in STATIC:
            run_script([str(ROOT / "tools" / name)], counts)
    if options.release:
        run_script([str(ROOT / "tools" / "check_release.py"), str(options.release)], counts)
    if options.tests:
        run_tests(options.tests.resolve(), options.threads, options.extra, counts)
    if counts.passed + counts.failed + counts.skipped == 0:
        say("nothing was checked")
    say(counts.line())
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks the shipped program: tools/check_release.py PROGRAM

Stripped it stays below 3 MB plus the data built into it (8 MB in all); --version and --help answer
quickly, in an empty environment, without a home folder, from any working folder, with closed
standard input.  Exit status 1 when something is not so.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM_BYTES = 3 << 20
TOTAL_BYTES = 8 << 20
START_MS = 10.0


def stripped_size(program):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "program"
        subprocess.run(["strip", "-o", str(copy), str(program)], check=True)
        return copy.stat().st_size


def embedded_size():
    """Bytes of data/ that are built into the program."""
    return sum(path.stat().st_size for path in (ROOT / "data").rglob("*") if path.is_file())


def best_start(program, option):
    """(milliseconds of the fastest start, output), or raises with what went wrong."""
    best = None
    # A busy machine slows most starts, seldom all of fifty.
    for tries in range(50):
        if best is not None and tries >= 3 and best <= START_MS:
            break
        begin = time.perf_counter()
        done = subprocess.run([str(program), option], env={}, cwd="/", stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=20, check=False)
        took = (time.perf_counter() - begin) * 1000
        if done.returncode != 0 or not done.stdout.strip():
            raise RuntimeError(f"{option}: status {done.returncode}, "
                               f"{len(done.stdout)} bytes of output; {done.stderr.strip()[:200]}")
        best = took if best is None else min(best, took)
    return best, done.stdout


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    faults = []
    if not program.is_file():
        print(f"release: '{program}' is not there")
        return 1
    size = stripped_size(program)
    limit = min(PROGRAM_BYTES + embedded_size(), TOTAL_BYTES)
    if size > limit:
        faults.append(f"stripped program has {size} bytes, at most {limit}")
    times = []
    for option in ("--version", "--help"):
        try:
            took, output = best_start(program, option)
        except (RuntimeError, OSError, subprocess.SubprocessError) as fault:
            faults.append(str(fault))
            continue
        times.append(f"{option} {took:.1f} ms")
        if took > START_MS:
            faults.append(f"{option} took {took:.1f} ms, at most {START_MS:.0f}")
        if option == "--help" and "serve" not in output:
            faults.append("--help does not name the serve command")
    for fault in faults:
        print(f"release: {fault}")
    print(f"release: {size} bytes stripped, {', '.join(times) or 'does not start'}, "
          f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

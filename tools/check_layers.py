#!/usr/bin/env python3
"""Checks that every include goes downward.

src/layers.txt names, for each room (folder of src), the rooms whose headers it may include; its
own always.  `<thing>_priv.h` stays inside its room; tests may include it.  Includes are written
as "room/thing.h", from src.  The table itself must have no circle, and a room must not be missing
from it.  Prints file:line for every fault; exit status 1 when there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Outside libraries with one door: header pattern, rooms that may include it.
DOORS = [
    (re.compile(r"^openssl/"), {"net"}),
    (re.compile(r"^(pcre2|utf8proc)(posix)?\.h$"), {"tokenizer"}),
    (re.compile(r"^curl/"), {"hub"}),
    (re.compile(r"^mpi\.h$"), {"load"}),
    (re.compile(r"^(zmq|msgpack)(\.h|/)"), {"engine"}),
    (re.compile(r"^zlib\.h$"), {"net", "datasets", "multimodal", "report"}),
    (re.compile(r"^(zstd|lz4|snappy-c|brotli/.*)\.h$"), {"datasets", "multimodal"}),
    (re.compile(r"^(turbojpeg|jpeglib|png|webp/.*)\.h$"), {"datasets", "multimodal"}),
]
SYSTEM = re.compile(r"^\s*#\s*include\s+<([^>]+)>")


def read_layers(path):
    """The table: room -> set of rooms; and the faults found in it."""
    layers, faults = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, colon, below = line.partition(":")
        room = room.strip()
        if not colon or room in layers:
            faults.append(f"{path.relative_to(ROOT)}:{number}: malformed or repeated row '{room}'")
            continue
        # Only rooms named above are below: that alone rules out circles.
        for used in below.split():
            if used not in layers:
                faults.append(
                    f"{path.relative_to(ROOT)}:{number}: '{room}' uses '{used}', "
                    "which has no row above it")
        layers[room] = set(below.split())
    return layers, faults


def includes(path):
    """(line number, header, is_system) of every include of a file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), False
            continue
        match = SYSTEM.match(line)
        if match:
            yield number, match.group(1), True


def check_file(path, room, layers, faults):
    where = path.relative_to(ROOT)
    for number, header, is_system in includes(path):
        if is_system:
            for door, rooms in DOORS:
                if door.match(header) and room not in rooms:
                    faults.append(f"{where}:{number}: <{header}> belongs to "
                                  f"{' and '.join(sorted(rooms))} only")
            continue
        parts = header.split("/")
        # A generated or local table (`#include "options.def"`) is named with its room as well.
        if len(parts) < 2 or parts[0] not in layers:
            faults.append(f"{where}:{number}: \"{header}\" must be written as room/thing.h")
            continue
        used = parts[0]
        if used != room and used not in layers[room]:
            faults.append(f"{where}:{number}: '{room}' may not include '{header}'")
        if used != room and header.endswith("_priv.h"):
            faults.append(f"{where}:{number}: '{header}' is private to '{used}'")
        if not (ROOT / "src" / header).exists():
            faults.append(f"{where}:{number}: '{header}' does not exist")


def main():
    layers, faults = read_layers(ROOT / "src" / "layers.txt")
    count = 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".c", ".h", ".def"):
            continue
        below = path.relative_to(ROOT / "src").parts
        room = below[0] if len(below) > 1 else path.stem
        if room not in layers:
            faults.append(f"{path.relative_to(ROOT)}:1: room '{room}' has no row in src/layers.txt")
            continue
        count += 1
        check_file(path, room, layers, faults)
    for fault in faults:
        print(fault)
    if count == 0:
        print("check_layers: found no source file")
        return 1
    print(f"layers: {count} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

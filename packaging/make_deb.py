#!/usr/bin/env python3
"""Makes a Debian package out of a Meson build folder that is up to date.

  packaging/make_deb.py BUILD [OUTPUT-FOLDER]      prints the package's path

What `meson install` would install goes below /usr, whatever the folder's own prefix.  Equal inputs
give equal bytes: times are SOURCE_DATE_EPOCH (by default the time of the last commit, else 0),
owners root, names sorted.  Nothing but dpkg-dev is needed, and no root.
"""

import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTROL = """Package: vllm-bench
Version: {version}
Architecture: {architecture}
Maintainer: vllm-bench contributors <vllm-bench@example.invalid>
Installed-Size: {size}
Depends: {depends}
Recommends: ca-certificates, libcurl4, libsndfile1, libsnappy1v5, libwebpdemux2
Suggests: ffmpeg
Section: utils
Priority: optional
Description: load generator for servers of large language models
 Measures throughput and latencies of servers with an OpenAI-compatible
 interface, with the flags, figures and result files of vLLM's own
 benchmark, and with arrival times taken in the kernel. A mock server and
 a doctor that finds what would spoil a measurement are part of it.
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: vllm-bench

Files: *
Copyright: vllm-bench contributors
License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
 Where the built-in data come from, and their terms: data.md in this folder.
"""


def output_of(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def source_date():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    try:
        return int(output_of("git", "log", "-1", "--format=%ct", cwd=ROOT))
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


def introspect(build, what):
    return json.loads(output_of("meson", "introspect", what, str(build)))


def stage(build, folder):
    """Installs into folder/usr."""
    prefix = next(o["value"] for o in introspect(build, "--buildoptions") if o["name"] == "prefix")
    raw = folder / "raw"
    output_of("meson", "install", "-C", str(build), "--no-rebuild", "--destdir", str(raw))
    tree = folder / "tree"
    tree.mkdir()
    shutil.move(str(raw / prefix.lstrip("/")), str(tree / "usr"))
    return tree


def compress(path, epoch):
    with open(path, "rb") as source, open(f"{path}.gz", "wb") as target:
        with gzip.GzipFile("", "wb", 9, target, mtime=epoch) as packed:
            packed.write(source.read())
    path.unlink()


def add_documents(tree, epoch):
    documents = tree / "usr/share/doc/vllm-bench"
    documents.mkdir(parents=True)
    (documents / "copyright").write_text(COPYRIGHT, encoding="utf-8")
    shutil.copyfile(ROOT / "README.md", documents / "README.md")
    shutil.copyfile(ROOT / "data/README.md", documents / "data.md")
    shutil.copyfile(ROOT / "CHANGELOG.md", documents / "changelog")
    compress(documents / "changelog", epoch)
    for page in (tree / "usr/share/man/man1").glob("*.1"):
        compress(page, epoch)


def needed_packages(tree, folder):
    """What the shared libraries of the program belong to, by dpkg's own rules."""
    (folder / "debian").mkdir()
    (folder / "debian/control").write_text("Source: vllm-bench\nPackage: vllm-bench\n", encoding="utf-8")
    text = output_of("dpkg-shlibdeps", "-O", str(tree / "usr/bin/vllm-bench"), cwd=folder)
    return text.partition("shlibs:Depends=")[2].strip()


def files_of(tree):
    return sorted(p for p in tree.rglob("*") if p.is_file() and "DEBIAN" not in p.parts)


def write_control(tree, version, depends):
    control = tree / "DEBIAN"
    control.mkdir()
    files = files_of(tree)
    size = sum((p.stat().st_size + 1023) // 1024 for p in files)
    (control / "control").write_text(CONTROL.format(
        version=version, architecture=output_of("dpkg", "--print-architecture").strip(), size=size,
        depends=depends), encoding="utf-8")
    lines = [f"{hashlib.md5(p.read_bytes()).hexdigest()}  {p.relative_to(tree)}\n" for p in files]
    (control / "md5sums").write_text("".join(lines), encoding="utf-8")


def settle(tree, epoch):
    """Same modes and times, whoever builds when."""
    for path in [tree, *tree.rglob("*")]:
        executable = path.is_dir() or path.parent.name == "bin"
        path.chmod(0o755 if executable else 0o644)
        os.utime(path, (epoch, epoch))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    output = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else build).resolve()
    epoch = source_date()
    version = introspect(build, "--projectinfo")["version"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tree = stage(build, folder)
        add_documents(tree, epoch)
        write_control(tree, version, needed_packages(tree, folder))
        settle(tree, epoch)
        architecture = output_of("dpkg", "--print-architecture").strip()
        package = output / f"vllm-bench_{version}_{architecture}.deb"
        output.mkdir(parents=True, exist_ok=True)
        output_of("dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", str(tree),
                  str(package), env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch)))
    print(package)


if __name__ == "__main__":
    sys.exit(main())

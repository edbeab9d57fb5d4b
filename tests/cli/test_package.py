"""The Debian package: made twice with the same bytes, unpacked into a folder, and run there.

usage: test_package.py MAKE_DEB BUILD     (TAP on stdout; skipped where dpkg-dev is absent)
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

MAKE_DEB, BUILD = sys.argv[1], sys.argv[2]
RESULTS = []


def check(name, fault):
    RESULTS.append(not fault)
    print(f"{'not ok' if fault else 'ok'} {len(RESULTS)} - {name}")
    for line in str(fault or "").splitlines()[:20]:
        print(f"# {line}")


def run(*words, **env):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=120, env=dict(os.environ, **env), cwd="/")


def make(folder, epoch):
    """A package in a folder of its own; umask and time zone must not show."""
    os.makedirs(folder)
    done = subprocess.run([sys.executable, MAKE_DEB, BUILD, folder], capture_output=True, text=True, check=False,
                          preexec_fn=lambda: os.umask(0o077 if "second" in folder else 0o022), timeout=120,
                          env=dict(os.environ, SOURCE_DATE_EPOCH=epoch, TZ="UTC-9" if "second" in folder else "UTC"))
    return done.stdout.strip(), done.stderr


def check_contents(package, root):
    info = run("dpkg", "-I", package).stdout
    check("it needs the libraries that the program is linked with",
          None if re.search(r"Depends: .*libc6.*libssl3.*libyaml-0-2", info) else info)
    names = [line.split()[-1] for line in run("dpkg", "-c", package).stdout.splitlines()]
    expected = ["./usr/bin/vllm-bench", "./usr/share/man/man1/vllm-bench.1.gz",
                "./usr/share/bash-completion/completions/vllm-bench",
                "./usr/share/zsh/site-functions/_vllm-bench",
                "./usr/share/fish/vendor_completions.d/vllm-bench.fish",
                "./usr/share/doc/vllm-bench/copyright"]
    check("it holds program, man page, completions and licence",
          ", ".join(name for name in expected if name not in names))
    check("it unpacks", run("dpkg", "-x", package, root).stderr)
    with gzip.open(os.path.join(root, "usr/share/man/man1/vllm-bench.1.gz"), "rt", encoding="utf-8") as page:
        check("the man page is one", None if page.read().startswith(".\\\"") else "no roff")
    sums = run("dpkg", "-I", package, "md5sums").stdout
    check("every file has its sum", None if len(sums.splitlines()) ==
          sum(not name.endswith("/") for name in names) else sums)


def check_running(root):
    program = os.path.join(root, "usr/bin/vllm-bench")
    done = run(program, "--version")
    check("the unpacked program names its version", None if done.stdout.startswith("vllm-bench ") else done.stderr)
    done = run(program, "bench", "serve", "--mock", "--num-prompts", "4", "--prompt-token-ids", "--random-input-len",
               "16", "--random-output-len", "4", "--disable-tqdm", HTTP_PROXY="", http_proxy="")
    check("the unpacked program measures the embedded server",
          None if done.returncode == 0 and re.search(r"Successful requests: +4", done.stdout) else done.stderr)


def main():
    if not all(map(shutil.which, ("dpkg", "dpkg-deb", "dpkg-shlibdeps", "meson"))):
        print("1..0 # SKIP no dpkg-dev here")
        return 0
    folder = tempfile.mkdtemp(prefix="package-")
    package, trouble = make(os.path.join(folder, "first"), "1700000000")
    check("a package is made", None if os.path.exists(package) else trouble)
    if RESULTS[-1]:
        again, trouble = make(os.path.join(folder, "second"), "1700000000")
        with open(package, "rb") as one, open(again, "rb") as two:
            check("made again it has the same bytes", None if one.read() == two.read() else trouble or "they differ")
        root = os.path.join(folder, "root")
        check_contents(package, root)
        check_running(root)
    shutil.rmtree(folder)
    print(f"1..{len(RESULTS)}")
    return 0 if all(RESULTS) else 1


if __name__ == "__main__":
    sys.exit(main())

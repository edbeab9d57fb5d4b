"""What the program writes about itself: man page and completions.

usage: test_generated.py PROGRAM     (TAP on stdout; what needs a shell or man that is absent is skipped)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp(prefix="generated-")
RESULTS = []


def check(name, fault, skip=None):
    RESULTS.append(not fault)
    print(f"{'not ok' if fault else 'ok'} {len(RESULTS)} - {name}{' # SKIP ' + skip if skip else ''}")
    for line in str(fault or "").splitlines()[:20]:
        print(f"# {line}")


def run(words, **env):
    return subprocess.run(words, env=dict(PATH=os.environ["PATH"], HOME=FOLDER, LC_ALL="C.UTF-8", **env),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def generate(what, name):
    done = run([PROGRAM, "generate", what])
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(done.stdout)
    check(f"generate {what} writes text", None if done.returncode == 0 and done.stdout and not done.stderr
          else done.stderr)
    return path


def help_flags(*command):
    """Flags with a line of their own in --help."""
    text = run([PROGRAM, *command, "--help"], COLUMNS="80").stdout
    return re.findall(r"^  --([a-z0-9-]+)", text, re.MULTILINE)


def check_man(flags):
    path = generate("man", "vllm-bench.1")
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("\\-", "-")
    missing = [flag for flag in flags if flag not in ("help", "version") and
               not re.search(r"^Example: \\fB--" + flag + r"[ \\]", text, re.MULTILINE)]
    check("every flag of --help has an example in the man page", ", ".join(missing))
    for command in ("mock-server", "tokenize"):
        section = text.split(f".SH OPTIONS OF {command.upper()}\n")[1].split("\n.SH ")[0]
        missing = [flag for flag in help_flags(command) if f"\nExample: \\fB--{flag}" not in section]
        check(f"every flag of {command} has an example in the man page", ", ".join(missing))
    if shutil.which("man") is None or shutil.which("groff") is None:
        check("man has no warnings", None, "no man here")
        return
    done = run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path], MANROFFSEQ="", MANWIDTH="80")
    check("man has no warnings", done.stderr if done.returncode == 0 else done.stderr or "failed")


def complete_in_bash(path, line):
    """Candidates after `line`, whose words bash would split at '=' too."""
    words = [word for word in re.split(r"[ ]|(=)", line) if word is not None]
    words = [word for i, word in enumerate(words) if word or i == len(words) - 1]
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vllm_bench; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    return run(["bash", "--norc", "-c", script, "bash", path, *words]).stdout.split()


def check_bash(flags):
    path = generate("bash", "vllm-bench")
    if shutil.which("bash") is None:
        check("bash completes", None, "no bash here")
        return
    offered = complete_in_bash(path, "vllm-bench serve --")
    check("bash offers every flag of --help", ", ".join(set(flags) - {flag[2:] for flag in offered}))
    with open(os.path.join(FOLDER, "settings.yaml"), "w", encoding="utf-8"):
        pass
    for line, expected in [
            ("vllm-bench d", ["doctor"]),
            ("vllm-bench c", ["compare"]),
            ("vllm-bench mock-server --role-chunk ", ["early", "first", "merged", "none"]),
            ("vllm-bench mock-server --tt", ["--ttft", "--ttft-dist", "--ttft-sigma"]),
            ("vllm-bench tokenize --pi", ["--pieces"]),
            (f"vllm-bench tokenize {FOLDER}/set", [f"{FOLDER}/settings.yaml"]),
            (f"vllm-bench compare {FOLDER}/set", [f"{FOLDER}/settings.yaml"]),
            ("vllm-bench compare --", ["--help", "--compare-threshold", "--compare-markdown", "--compare-junit"]),
            ("vllm-bench compare host --compare-t", ["--compare-threshold"]),
            ("vllm-bench tokenize tokenizer --pi", ["--pieces"]),
            ("vllm-bench serve --max-conc", ["--max-concurrency"]),
            ("vllm-bench serve --max_conc", ["--max-concurrency"]),
            ("vllm-bench --ramp-up-strategy ", ["linear", "exponential"]),
            ("vllm-bench --ramp-up-strategy=l", ["linear"]),
            ("vllm-bench --ramp_up_strategy=", ["linear", "exponential"]),
            ("vllm-bench --seed ", []),
            (f"vllm-bench --config {FOLDER}/set", [f"{FOLDER}/settings.yaml"])]:
        got = complete_in_bash(path, line)
        check(f"bash: '{line.replace(FOLDER, 'DIR')}'", None if got == expected else f"{got}, not {expected}")


def check_zsh():
    path = generate("zsh", "_vllm-bench")
    if shutil.which("zsh") is None:
        check("zsh reads its completion", None, "no zsh here")
        return
    done = run(["zsh", "-f", "-c", f"fpath=({FOLDER} $fpath); autoload -Uz compinit; compinit -D -u; "
                "print $_comps[vllm-bench]; zsh -n " + path])
    check("zsh reads its completion", None if done.stdout.strip() == "_vllm-bench" and not done.stderr
          else done.stdout + done.stderr)


def check_fish():
    path = generate("fish", "vllm-bench.fish")
    if shutil.which("fish") is None:
        check("fish completes", None, "no fish here")
        return
    for line, expected in [("vllm-bench serve --max-conc", ["--max-concurrency"]),
                           ("vllm-bench serve --ramp-up-strategy ", ["exponential", "linear"])]:
        done = run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"])
        got = sorted(row.split("\t")[0] for row in done.stdout.splitlines())
        check(f"fish: '{line}'", None if got == expected and not done.stderr else f"{got} {done.stderr}")


def main():
    flags = help_flags()
    check("--help lists flags", None if len(flags) > 100 else len(flags))
    check_man(flags)
    check_bash(flags)
    check_zsh()
    check_fish()
    done = run([PROGRAM, "generate", "html"])
    check("generate html is refused by name",
          None if done.returncode == 2 and "'html'" in done.stderr and not done.stdout else done.stderr)
    shutil.rmtree(FOLDER)
    print(f"1..{len(RESULTS)}")
    return 0 if all(RESULTS) else 1


if __name__ == "__main__":
    sys.exit(main())

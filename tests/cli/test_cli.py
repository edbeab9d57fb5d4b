"""The built program from outside: argv in, text and exit status out.  No server, no network.

usage: test_cli.py PROGRAM FLAGS.TSV     (TAP on stdout)
"""

import os
import re
import subprocess
import sys
import tempfile
import time

PROGRAM, FLAGS = os.path.abspath(sys.argv[1]), sys.argv[2]
SLOW = bool(os.environ.get("VB_TEST_SLOW"))
RESULTS = []

# words; parts that the sentence must hold
REFUSALS = [
    (["--num-prompts", "abc"], ["--num-prompts", "'abc'", "--num-prompts 1000"]),
    (["--num-prompts", "0"], ["--num-prompts", "'0'"]),
    (["--num-prompts=-1"], ["--num-prompts", "'-1'"]),
    (["--num-prom", "3"], ["--num-prom", "--num-prompts"]),
    (["--num_promts=3"], ["--num_promts", "--num-prompts"]),
    (["--no-such-flag", "1"], ["--no-such-flag"]),
    (["-model", "x"], ["-model", "--model"]),
    (["--port", "70000"], ["--port", "'70000'"]),
    (["--port", "-1"], ["--port", "'-1'"]),
    (["--backend", "vlm"], ["--backend", "'vlm'", "'vllm'"]),
    (["--backend", "tgi"], ["--backend", "'tgi'", "openai-chat"]),
    (["--backend", "vllm-poolin"], ["--backend", "'vllm-poolin'", "'vllm-pooling'"]),
    (["--lora-modules", "a", " "], ["--lora-modules", "blank"]),
    (["--lora-modules", "a", "--backend", "vllm-rerank"], ["--lora-modules", "'vllm-rerank'"]),
    (["--lora-modules", "--port", "1"], ["--lora-modules"]),
    (["--lora-assignment", "even"], ["--lora-assignment", "'even'", "round-robin"]),
    (["--top-p", "1", "--backend", "openai-audio"], ["top_p", "'openai-audio'"]),
    (["--dataset-name", "hf"], ["--dataset-name hf", "--dataset-path", "hub name"]),
    (["--dataset-name", "hf", "--dataset-path", "x", "--hf-output-len", "0"], ["--hf-output-len", "'0'", "at least 1"]),
    (["--dataset-name", "randon"], ["--dataset-name", "'randon'", "'random'"]),
    (["--dataset-name", "custom"], ["custom", "--dataset-path"]),
    (["--dataset-name", "custom", "--dataset-path", "a.txt"], ["--dataset-path", "'a.txt'"]),
    (["--dataset-path", "a.jsonl"], ["--dataset-path", "'a.jsonl'", "random"]),
    (["--header", "broken"], ["--header", "'broken'"]),
    (["--header", "a b=c"], ["--header", "'a...'"]),
    (["--header", "X=a\r\nY: b"], ["--header", "'X'", "control character"]),
    (["--metadata", "broken"], ["--metadata", "'broken'"]),
    (["--extra-body", "[1]"], ["--extra-body", "'[1]'"]),
    (["--extra-body", "{"], ["--extra-body", "'{'"]),
    (["--chat-template-kwargs", "{"], ["--chat-template-kwargs", "'{'"]),
    (["--logprobs", "-1"], ["--logprobs", "'-1'"]),
    (["--top-p", "nan"], ["--top-p", "'nan'"]),
    (["--top-k", "1.5"], ["--top-k", "'1.5'"]),
    (["--request-rate", "0"], ["--request-rate", "'0'"]),
    (["--request-rate=-1"], ["--request-rate", "'-1'"]),
    (["--request-rate", "nan"], ["--request-rate", "'nan'"]),
    (["--burstiness", "0", "--request-rate", "10"], ["--burstiness", "'0'"]),
    (["--burstiness=-1"], ["--burstiness", "'-1'"]),
    (["--max-concurrency", "0"], ["--max-concurrency", "'0'"]),
    (["--max-model-len", "0"], ["--max-model-len", "'0'"]),
    (["--ramp-up-strategy", "linear"], ["--ramp-up-strategy", "--ramp-up-start-rps"]),
    (["--ramp-up-start-rps", "1"], ["--ramp-up-start-rps", "--ramp-up-strategy"]),
    (["--ramp-up-strategy", "linear", "--ramp-up-start-rps", "0", "--ramp-up-end-rps", "2"],
     ["--ramp-up-start-rps", "'0'"]),
    (["--ramp-up-strategy", "linear", "--ramp-up-start-rps", "3", "--ramp-up-end-rps", "2"],
     ["--ramp-up-start-rps", "'3'"]),
    (["--ramp-up-strategy", "linear", "--ramp-up-start-rps", "1", "--ramp-up-end-rps", "2",
      "--request-rate", "5"], ["--ramp-up-strategy", "--request-rate", "'5'"]),
    (["--metric-percentiles", "abc"], ["--metric-percentiles", "'abc'"]),
    (["--metric-percentiles", "150"], ["--metric-percentiles", "'150'"]),
    (["--goodput", "foo:1"], ["--goodput", "'foo'"]),
    (["--goodput", "ttft:abc"], ["--goodput", "'abc'"]),
    (["--goodput", "ttft:-1"], ["--goodput", "'ttft:-1'"]),
    (["--goodput", "ttft"], ["--goodput", "'ttft'"]),
    (["--random-range-ratio", "1.0"], ["--random-range-ratio", "'1.0'", "no longer"]),
    (["--random-range-ratio", '{"input":0.1}'], ["--random-range-ratio", "'output'"]),
    (["--random-cache-ratio", "2"], ["--random-cache-ratio", "'2'"]),
    (["--custom-output-len", "-2"], ["--custom-output-len", "'-2'"]),
    (["--steady-state-threshold", "0"], ["--steady-state-threshold", "'0'"]),
    (["--steady-state-min-window", "-1"], ["--steady-state-min-window", "'-1'"]),
    (["--request-timeout", "5x"], ["--request-timeout", "'5x'"]),
    (["--client-threads", "0"], ["--client-threads", "'0'"]),
    (["--seed", "1.5"], ["--seed", "'1.5'"]),
    (["--endpoint", "v1/completions"], ["--endpoint", "'v1/completions'", "'/v1/completions'"]),
    (["--mock", "--base-url", "http://127.0.0.1:1"], ["--mock", "--base-url"]),
    (["--key", "a.pem"], ["--key", "'a.pem'", "--cert"]),
    (["--mock", "--unix-socket", "/s"], ["--unix-socket", "'/s'", "--mock"]),
    (["--insecure", "--cacert", "ca.pem"], ["--cacert", "'ca.pem'", "--insecure"]),
    (["--model", ""], ["--model", "empty"]),
    (["--ignore-eos=true"], ["--ignore-eos", "'true'"]),
    (["--sweep-max-concurrency", "1,0"], ["--sweep-max-concurrency", "'0'", "'1,0'"]),
    (["--sweep-request-rate", "1,x"], ["--sweep-request-rate", "'x'"]),
    (["--num-runs", "0"], ["--num-runs", "'0'"]),
    (["--resume"], ["--resume", "--num-runs"]),
    (["--compare", "a.json"], ["--compare", "two"]),
    (["--compare-threshold", "x"], ["--compare-threshold", "'x'"]),
    (["--max-failures", "0.5"], ["--max-failures", "'0.5'"]),
    (["--max-failures", "200%"], ["--max-failures", "'200%'"]),
    (["--fail-if", "p99_ttft_ms"], ["--fail-if", "'p99_ttft_ms'"]),
    (["--duration", "5"], ["--duration", "--max-concurrency"]),
    (["--profile-batch-threshold", "2"], ["--profile-batch-threshold", "--profile"]),
    (["--profile", "--profile-duration", "1"], ["--profile-duration", "--profile-batch-threshold"]),
    (["--multi-turn"], ["--multi-turn", "openai-chat"]),
    (["--multi-turn", "--backend", "openai-chat", "--dataset-name", "sonnet"], ["--multi-turn", "sonnet"]),
    (["--multi-turn", "--backend", "openai-chat", "--multi-turn-prefix-global-ratio", "0.5",
      "--multi-turn-prefix-conversation-ratio", "0.5"], ["below 1"]),
    (["--port.a", "1"], ["--port.a", "JSON object"]),
    (["--extra-body.a"], ["--extra-body.a", "needs a value"]),
    (["--config", "/nowhere.yaml"], ["--config", "'/nowhere.yaml'"]),
    (["--config", "/nowhere.json"], ["--config", "'/nowhere.json'", ".yaml"]),
    (["stray"], ["'stray'"]),
    (["serve", "stray"], ["'stray'"]),
    (["serve", "--", "stray"], ["'stray'"]),
    (["serv"], ["'serv'", "'serve'"]),
    (["bench"], ["bench", "serve"]),
    (["bench", "latency"], ["'bench latency'"]),
    (["compare", "a.json"], ["--compare", "two"]),
    (["compare"], ["--compare", "needs a value"]),
    (["tokenize", "a"], ["--tokenizer"]),
    (["tokenize", "--tokenizer", "gpt2", "--cuont"], ["--cuont", "'--count'"]),
    (["tokenize", "--tokenizer", "gpt2", "--count=3"], ["--count", "'3'"]),
    (["tokenize", "--count", "--pieces", "--tokenizer", "gpt2"], ["--count and --pieces"]),
    (["docter"], ["'docter'", "'doctor'"]),
    (["doctor", "--prot", "1"], ["--prot", "'--port'"]),
    (["--help=quux"], ["'quux'", "traffic"]),
    (["--help", "quux"], ["'quux'", "traffic"]),
    (["--version=x"], ["--version", "takes no value", "'x'"]),
    (["-n", "5"], ["-n: ", "'--num-prompts'"]),
    (["--url", "http://h"], ["--url", "'--base-url'"]),
    (["--concurrency", "5"], ["--concurrency", "'--max-concurrency'"]),
    (["--temperature", "0", "--base-url", "http://h:1/x?key=hidden"], ["'http://h:1/x' is a base URL"]),
    (["--header", "Authorization=Bearer", "hidden"], ["--header: word 2 has no '='", "quotes"]),
    (["--extra-body", '{"api_key":"hidden"'], ["--extra-body: '{\"api_key\"...' is not JSON", "column"]),
    (["help", "quux"], ["'quux'", "traffic"]),
]

# words that have no effect together; parts of the one warning
WARNINGS = [
    (["--burstiness", "2"], ["--burstiness", "--request-rate"]),
    (["--base-url", "http://127.0.0.1:1", "--port", "2"], ["--port", "--base-url"]),
    (["--served-model-name", "a"], ["--served-model-name", "--model"]),
    (["--lora-assignment", "random"], ["--lora-assignment", "--lora-modules"]),
    (["--tokenizer", "a", "--skip-tokenizer-init"], ["--tokenizer", "--skip-tokenizer-init"]),
    (["--no-steady-state", "--steady-state-threshold", "0.9"], ["--steady-state-threshold", "--no-steady-state"]),
    (["--plain-openai", "--ignore-eos"], ["--ignore-eos", "--plain-openai"]),
    (["--cacert", "a"], ["--cacert", "https"]),
    (["--dry-run", "--save-result"], ["--save-result", "--dry-run"]),
    (["--sonnet-input-len", "300", "--sharegpt-output-len", "1"],
     ["--sharegpt-output-len, --sonnet-input-len have", "--dataset-name random"]),
    (["--dataset-name", "sonnet", "--random-input-len", "3"], ["--random-input-len has", "--dataset-name sonnet"]),
    (["--save-detailed"], ["--save-detailed", "--save-result"]),
    (["--seed", "1", "--seed", "2"], ["--seed", "2 times"]),
    (["--trust-remote-code"], ["--trust-remote-code", "ever run"]),
    (["--use-beam-search"], ["--use-beam-search"]),
    (["--no-stream"], ["--no-stream"]),
    (["--tokenizer-mode", "slow"], ["--tokenizer-mode", "'slow'"]),
    (["--metric-percentiles", "50,50.0"], ["--metric-percentiles", "'50,50.0'", "once"]),
    (["--plain-openai", "--top-k", "5", "--min-p", "0.1"], ["--top-k, --min-p have", "--plain-openai"]),
    (["--header", "Connection=close", "X-A=b"], ["--header", "'Connection'", "itself"]),
]


def run(words, env=None, text="", **kwargs):
    """One call with an environment of nothing but `env`, and `text` at standard input."""
    return subprocess.run([PROGRAM, *words], env=env or {}, input=text, text=True,
                          stdout=kwargs.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          timeout=60, cwd="/", check=False, **kwargs)


def check(name, fault):
    RESULTS.append(not fault)
    print(f"{'not ok' if fault else 'ok'} {len(RESULTS)} - {name}")
    for line in str(fault or "").splitlines():
        print(f"# {line}")


def refusal_fault(words, parts):
    done = run(words)
    lines = done.stderr.splitlines()
    if done.returncode != 2:
        return f"exit status {done.returncode}\n{done.stderr}"
    if done.stdout:
        return f"stdout: {done.stdout}"
    if len(lines) != 2 or not lines[0].startswith("vllm-bench: error: ") or "--help" not in lines[1]:
        return f"not one sentence and a hint:\n{done.stderr}"
    if "hidden" in done.stderr:
        return f"shows a secret: {done.stderr}"
    missing = [part for part in parts if part not in lines[0]]
    return f"without {missing}: {lines[0]}" if missing else None


def read_flags():
    with open(FLAGS, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.startswith("--")]
    return [row for row in rows if row[0] not in ("--help", "--version")]


def flag_fault(flag, default):
    """A switch takes no value, any other flag reads one."""
    if default == "off":
        return refusal_fault([flag + "=yes"], [flag, "takes no value", "'yes'"])
    return refusal_fault([flag], [flag, "needs a value"])


def check_refusals():
    for words, parts in REFUSALS:
        check(" ".join(words).replace("\r\n", "<CRLF>"),
              refusal_fault(words, parts))


def warning_fault(words, parts):
    done = run([*words, "--dump-config", "--temperature", "0"])
    lines = [line for line in done.stderr.splitlines() if all(part in line for part in parts)]
    if done.returncode != 0 or len(lines) != 1 or not lines[0].startswith("warning: "):
        return f"exit status {done.returncode}, not one warning with {parts}:\n{done.stderr}"
    return None if len(done.stderr.splitlines()) == 1 else f"more than one warning:\n{done.stderr}"


def check_warnings():
    for words, parts in WARNINGS:
        check(" ".join(words) + " is warned of", warning_fault(words, parts))


def check_settings():
    """Sources and their order from outside; the details are unit tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("num-prompts: 3\nrandom_output_len: 4\ndisable-tqdm: true\nheader: [X-Key=hidden]\n")
        env = {"VLLM_BENCH_NUM_PROMPTS": "9", "VLLM_BENCH_SEED": "8", "OPENAI_API_KEY": "sk-hidden"}
        words = ["bench", "serve", "--config", path, "--random-output-len", "5", "--extra-body.a.b", "1",
                 "--temperature", "0"]
        done = run([*words, "--dump-config", "--save-config", path + ".saved.yaml"], env=env)
        lines = [line.removeprefix("# ") for line in done.stdout.splitlines()]
        rows = {line.split(":")[0]: line.split() for line in lines}
        for name, value, origin in [("num-prompts", "3", path), ("random-output-len", "5", "command line"),
                                    ("seed", "8", "environment VLLM_BENCH_SEED"), ("port", "8000", "default"),
                                    ("disable-tqdm", "true", path), ("ignore-eos", "true", "derived")]:
            row = rows.get(name, [])
            check(f"--dump-config: {name} comes from {origin.replace(folder, 'DIR')}",
                  None if len(row) > 3 and row[1] == value and origin in " ".join(row) else done.stdout)
        with open(path + ".saved.yaml", encoding="utf-8") as file:
            saved = file.read()
        check("neither --dump-config nor --save-config shows a secret",
              [line for line in (saved + done.stdout).splitlines() if "hidden" in line])
        again = run(["--config", path + ".saved.yaml", "--dump-config"])
        strip = lambda text: [re.sub(r" +# .*", "", line) for line in text.splitlines()  # noqa: E731
                              if line and not line.startswith(("#", "header", "request-id-prefix"))]
        check("--save-config writes what --config reads back",
              None if strip(again.stdout) == strip(done.stdout) else again.stdout + again.stderr)
        with open(path + ".dump.yaml", "w", encoding="utf-8") as file:
            file.write(done.stdout)
        again = run(["--config", path + ".dump.yaml", "--dump-config"])
        check("--dump-config prints what --config reads back",
              None if strip(again.stdout) == strip(done.stdout) and not again.stderr else again.stdout + again.stderr)
        done = run(["--config", path, "--mock", "--prompt-token-ids", "--no-disable-tqdm"])
        check("a run with --config sends what the file says",
              None if done.returncode == 0 and re.search(r"Successful requests: +3", done.stdout) else done.stderr)


# What Python's launcher does with VLLM_USE_RUST_BENCH and VLLM_RUST_FRONTEND_PATH set: it becomes the native program.
LAUNCHER = """
import os, sys
if sys.argv[1:3] == ["bench", "serve"] and os.environ.get("VLLM_USE_RUST_BENCH") == "1":
    path = os.environ["VLLM_RUST_FRONTEND_PATH"]
    os.execv(path, [path, "bench", "serve", *sys.argv[3:]])
"""


# argv behind "tokenize --tokenizer cl100k_base", standard input, exit status, standard output, part of standard error.
# Ids and texts are OpenAI's: cl100k_base has "Hello" at 9906 and " world" at 1917.
TOKENIZE = [
    (["--decode"], "[9906, 1917]\n", 0, "Hello world", ""),
    (["--decode"], "9906 99999999 1917", 0, "Hello world", "1 of the ids are no tokens and were left out, the first is 99999999"),
    (["--decode"], "9906 42949672959906", 1, "", "'standard input': the number at byte 5 is too large for an id"),
    (["--decode"], "9906 x", 1, "", "'standard input': byte 5 is no part of a list of ids"),
    (["--decode", "--jsonl"], '{"ids": [9906]}\n{"ids": ["x"]}\n', 1, '{"text":"Hello"}\n', "'standard input': line 2 has no list"),
    (["--jsonl"], '\n{"text": "Hello world"}', 0, '{"ids":[9906,1917]}\n', ""),
    (["--jsonl"], "Hello\n", 1, "", "'standard input': line 1 is no JSON; wanted is {\"text\""),
    (["--jsonl"], '{"text": 5}', 1, "", "'standard input': line 1 has no text"),
    (["--count", "-"], "Hello world", 0, "2\n", ""),
    (["no-such-file"], "", 1, "", "'no-such-file'"),
]


def check_tokenize():
    for words, text, status, out, err in TOKENIZE:
        done = run(["tokenize", "--tokenizer", "cl100k_base", *words], text=text)
        fits = (done.returncode, done.stdout) == (status, out) and err in done.stderr and bool(err) == bool(done.stderr)
        check(f"tokenize {' '.join(words)} of {text!r}",
              None if fits else f"exit status {done.returncode}:\n{done.stdout}{done.stderr}")


def check_launcher():
    with tempfile.TemporaryDirectory() as folder:
        native = os.path.join(folder, "vllm-rs")
        os.symlink(PROGRAM, native)
        env = {"VLLM_USE_RUST_BENCH": "1", "VLLM_RUST_FRONTEND_PATH": native, "VLLM_LOGGING_LEVEL": "INFO"}

        def launch(*words):
            return subprocess.run([sys.executable, "-c", LAUNCHER, "bench", "serve", *words], env=env, cwd=folder,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

        done = launch("--mock", "--num-prompts", "3", "--prompt-token-ids", "--save-result", "--result-filename",
                      "result.json", "--percentile-metrics", "ttft", "--metadata", "a=b", "c=d")
        check("called as the launcher calls it, it measures",
              None if done.returncode == 0 and "Serving Benchmark Result" in done.stdout and
              os.path.exists(os.path.join(folder, "result.json")) else done.stderr)
        done = launch("--help=all")
        check("called as the launcher calls it, it helps", None if done.returncode == 0 and "--top-p" in done.stdout
              else done.stderr)
        done = launch("--num-promts", "3")
        check("called as the launcher calls it, it refuses with status 2",
              None if done.returncode == 2 and "--num-prompts" in done.stderr else done.stderr)
        done = run(["frontend", "--listen-fd", "3"])
        check("called as a frontend, it says what it is",
              None if done.returncode == 2 and "VLLM_USE_RUST_FRONTEND" in done.stderr else done.stderr)


def check_every_flag():
    text = run(["--help"], env={"COLUMNS": "80"}).stdout
    for flag, _, default in read_flags():
        if f"  {flag}" not in text:
            check(f"{flag} is in --help", "missing")
        check(f"{flag} alone or with a wrong value", flag_fault(flag, default))


def check_help():
    for words, part in [(["--help"], "--steady-state-threshold"), (["-h"], "Examples:"),
                        (["serve", "--help"], "--steady-state-threshold"),
                        (["bench", "serve", "-h"], "Examples:"), (["help"], "--top-p"),
                        (["help", "serve"], "--top-p"), (["help", "doctor"], "--base-url"), (["help", "sampling"], "--top-p"),
                        (["--help=sampling"], "--top-p"), (["--help", "traffic"], "--request-rate"), (["--help", "serve"], "--top-p"),
                        (["--help", "doctor"], "Looks at the way"), (["--help=percentile"], "--metric-"),
                        (["--model", "x", "--help", "--nonsense"], "usage:")]:
        done = run(words)
        check(" ".join(words) + " prints help",
              None if done.returncode == 0 and part in done.stdout and not done.stderr
              else f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    done = run(["--version"])
    check("--version names program and version",
          None if re.fullmatch(r"vllm-bench \d+\.\d+\.\d+\n", done.stdout) else done.stdout)
    done = run([])
    check("no words at all: short help on stderr, exit 2",
          None if done.returncode == 2 and "usage:" in done.stderr else done.stderr)
    for width in (80, 100, 120):
        text = run(["--help"], env={"COLUMNS": str(width)}).stdout
        longest = max(len(line) for line in text.splitlines())
        check(f"--help keeps within {width} columns", None if longest <= width else longest)


def check_speed():
    for words in (["--help"], ["--version"]):
        times = []
        for _ in range(20):
            start = time.perf_counter()
            run(words)
            times.append(time.perf_counter() - start)
        best = min(times) * 1000
        check(f"{words[0]} answers in under 10 ms", None if best < 10 or SLOW else f"{best:.1f} ms")


def check_stdout():
    done = subprocess.run(f"'{PROGRAM}' --help | true; exit ${{PIPESTATUS[0]}}", shell=True,
                          executable="/bin/bash", env={}, capture_output=True, check=False)
    check("a reader that goes away is no failure",
          None if done.returncode == 0 and not done.stderr else f"{done.returncode} {done.stderr}")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run(["--help"], stdout=full)
        check("a full disk is a failure",
              None if done.returncode == 1 and "standard output" in done.stderr
              else f"{done.returncode} {done.stderr}")
    done = subprocess.run(f"'{PROGRAM}' --version >&-", shell=True, executable="/bin/bash", env={},
                          capture_output=True, check=False)
    check("a closed stdout is no failure", None if done.returncode == 0 else done.stderr)


def main():
    check_refusals()
    check_warnings()
    check_settings()
    check_tokenize()
    check_launcher()
    check_every_flag()
    check_help()
    check_speed()
    check_stdout()
    print(f"1..{len(RESULTS)}")
    return 0 if all(RESULTS) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How many tokens a client takes in per second of its own CPU.

Two series.  `parse-bound`: the server writes many events at a time, as fast as it can, so system
calls hardly count and the client's parsing does.  `call-bound`: one event a write at a steady
pace, so the kernel's work rules, which no client can avoid.  The CPU is that of the client's whole
process, start and statistics included; prompts are 8 token ids, so building the data set is no
part of it worth naming.  `floor` reads the same bytes and only looks for the end of each response.
"""

import sys

import rig

SERIES = {
    "parse-bound": (["--ttft", "0", "--itl", "0", "--coalesce", "64"], 64, 1000),
    "call-bound": (["--ttft", "50", "--itl", "30"], 1000, 50),
}


def measure(bench, name, streams, requests, tokens):
    used = bench.run(name, streams, requests, tokens)
    used.pop("result", None)
    used["rate"] = requests * tokens / used["cpu_s"] / 1e6
    return used


def main():
    p = rig.parser(__doc__)
    p.add_argument("--requests", type=int, default=3200, metavar="N",
                   help="requests of 1,000 tokens in the parse-bound series [%(default)s]")
    o = p.parse_args()
    if o.short:
        o.runs, o.requests = 3, 800
    print("throughput: million tokens per second of the client's CPU, medians of "
          f"{o.runs} runs\n{rig.machine()}")
    for title, (flags, streams, tokens) in SERIES.items():
        requests = o.requests if title == "parse-bound" else 2 * streams
        with rig.Rig(o, flags) as bench:
            runs = rig.alternate([*bench.clients, "floor"], o.runs, lambda name: measure(
                bench, name, streams, requests, tokens))
        print(f"\n{title}: {streams} streams, {requests} requests of {tokens} tokens, mock-server "
              + " ".join(flags))
        print(f"{'':8}{'Mtok/CPU s':>12}{'CPU s':>8}{'user s':>8}{'wall s':>8}{'RSS MiB':>9}")
        for name in runs:
            row = [rig.median(runs, name, key) for key in ("cpu_s", "user_s", "wall_s")]
            print(f"{name:8}{rig.median(runs, name, 'rate'):12.3f}"
                  + "".join(f"{value:8.2f}" for value in row)
                  + f"{rig.median(runs, name, 'rss_mib'):9.1f}")
        for other in ("floor", "peer"):
            if other in runs:
                print(f"        ours / {other}: {rig.pair_ratios(runs, 'ours', other, 'rate'):.2f} "
                      f"of its tokens per CPU second")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How far a client's latencies are from what the server did.

The mock server keeps the time at which a request arrived and every token was sent; a client's
TTFT and ITL of each request (its detailed result) are compared with them.  Errors are client minus
truth, in microseconds; TTFT's includes both ways over loopback.  `floor` is a bare reader with
kernel stamps (bench/floor.c).  CPU and memory are of the client's whole process.
"""

import sys

import rig

COLUMNS = [
    ("ttft_p50", "TTFT error p50"), ("ttft_p99", "p99"), ("ttft_max", "max"),
    ("ttft_abs_p99", "abs p99"), ("itl_p50", "ITL error p50"), ("itl_abs_p50", "abs p50"),
    ("itl_abs_p99", "abs p99"), ("itl_abs_max", "abs max"),
]


def errors(result, truth, requests):
    """Errors in microseconds of all requests that both sides know in full."""
    ttft, itl, missing = [], [], 0
    for i in range(requests):
        record = truth.get(i)
        if record is None or i >= len(result["ttfts"]) or \
                len(result["itls"][i]) != len(record["sent_ns"]) - 1:
            missing += 1
            continue
        sent = record["sent_ns"]
        ttft.append(result["ttfts"][i] * 1e6 - (sent[0] - record["arrival_ns"]) / 1e3)
        itl += [gap * 1e6 - (b - a) / 1e3
                for gap, a, b in zip(result["itls"][i], sent, sent[1:])]
    if not ttft or not itl:
        sys.exit("bench: no request could be matched with the server's records")
    ttft_abs, itl_abs = [abs(e) for e in ttft], [abs(e) for e in itl]
    return {
        "ttft_p50": rig.percentile(ttft, 50), "ttft_p99": rig.percentile(ttft, 99),
        "ttft_max": max(ttft), "ttft_abs_p99": rig.percentile(ttft_abs, 99),
        "itl_p50": rig.percentile(itl, 50), "itl_abs_p50": rig.percentile(itl_abs, 50),
        "itl_abs_p99": rig.percentile(itl_abs, 99), "itl_abs_max": max(itl_abs),
        "missing": missing,
    }


def measure(bench, name, streams, requests, tokens):
    used = bench.run(name, streams, requests, tokens, detailed=True)
    result = used.pop("result")
    # What our client says of itself: tokens whose stamp was lost to a later one in the same read.
    used["merged"] = result.get("client", {}).get("merged_event_share", 0)
    return used | errors(result, bench.truth(), requests)


def show(streams, runs):
    head = " ".join(f"{title:>14}" for _, title in COLUMNS)
    print(f"\n{streams} streams\n{'':8}{head} {'CPU s':>8} {'RSS MiB':>8}")
    for name in runs:
        row = " ".join(f"{rig.median(runs, name, key):14.1f}" for key, _ in COLUMNS)
        print(f"{name:8}{row} {rig.median(runs, name, 'cpu_s'):8.2f} "
              f"{rig.median(runs, name, 'rss_mib'):8.1f}")
        missing = sum(run["missing"] for run in runs[name])
        if missing:
            print(f"        {missing} requests of {name} could not be matched")
    merged = [run["merged"] for run in runs["ours"]]
    print(f"        tokens of ours that shared a read: {100 * max(merged):.3f} % in the worst run")
    for other in ("floor", "peer"):
        if other not in runs:
            continue
        parts = [f"{label} {rig.pair_ratios(runs, 'ours', other, key):.2g}" for label, key in (
            ("CPU", "cpu_s"), ("RSS", "rss_mib"), ("TTFT abs p99", "ttft_abs_p99"),
            ("ITL abs p99", "itl_abs_p99"))]
        print(f"        ours / {other}: " + ", ".join(parts))
    sys.stdout.flush()


def main():
    p = rig.parser(__doc__)
    p.add_argument("--streams", default="1,100,1000,2000", metavar="LIST", help="[%(default)s]")
    p.add_argument("--ttft", type=float, default=50, metavar="MS", help="[%(default)s]")
    p.add_argument("--itl", type=float, default=30, metavar="MS", help="[%(default)s]")
    p.add_argument("--tokens", type=int, default=50, metavar="N", help="[%(default)s]")
    p.add_argument("--waves", type=int, default=2, metavar="N",
                   help="requests of each stream, one after the other [%(default)s]")
    o = p.parse_args()
    if o.short:
        o.runs, o.waves = 1, 1
    print(f"accuracy: TTFT {o.ttft:g} ms, ITL {o.itl:g} ms, {o.tokens} tokens; errors in "
          f"microseconds, medians of {o.runs} runs\n{rig.machine()}")
    flags = ["--truth", "--ttft", str(o.ttft), "--itl", str(o.itl)]
    with rig.Rig(o, flags) as bench:
        for streams in map(int, o.streams.split(",")):
            requests = streams * max(o.waves, 2 if streams == 1 else 1)
            runs = rig.alternate([*bench.clients, "floor"], o.runs, lambda name: measure(
                bench, name, streams, requests, o.tokens))
            show(streams, runs)


if __name__ == "__main__":
    main()

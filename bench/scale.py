#!/usr/bin/env python3
"""Ten thousand streams at once, from one client process against one server process.

Every request must complete; the client's peak memory and CPU are reported, and how far its TTFT
and ITL are from the server's records.  Each process needs one open file a stream: `ulimit -n`.
"""

import resource
import sys

import accuracy
import rig


def main():
    p = rig.parser(__doc__)
    p.add_argument("--streams", type=int, default=10000, metavar="N", help="[%(default)s]")
    p.add_argument("--ttft", type=float, default=2000, metavar="MS", help="[%(default)s]")
    p.add_argument("--itl", type=float, default=250, metavar="MS", help="[%(default)s]")
    p.add_argument("--tokens", type=int, default=20, metavar="N", help="[%(default)s]")
    o = p.parse_args()
    if o.short:
        o.runs = 1
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if limit not in (-1, resource.RLIM_INFINITY) and limit < o.streams + 100:
        print(f"scale: the hard limit of open files is {limit}; {limit - 100} streams are run")
        o.streams = limit - 100
    print(f"scale: {o.streams} streams, TTFT {o.ttft:g} ms, ITL {o.itl:g} ms, {o.tokens} tokens; "
          f"errors in microseconds\n{rig.machine()}")
    flags = ["--truth", "--ttft", str(o.ttft), "--itl", str(o.itl)]
    with rig.Rig(o, flags) as bench:
        def measure(name):
            used = bench.run(name, o.streams, o.streams, o.tokens, detailed=True)
            result = used.pop("result")
            used["failed"] = o.streams - result.get("completed", len(result["ttfts"]))
            used["merged"] = result.get("client", {}).get("merged_event_share", 0)
            return used | accuracy.errors(result, bench.truth(), o.streams)
        runs = rig.alternate([*bench.clients, "floor"], o.runs, measure)
    accuracy.show(o.streams, runs)
    failed = sum(run["failed"] for run in runs["ours"])
    print(f"        requests of ours that did not complete: {failed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

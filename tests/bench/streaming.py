#!/usr/bin/env python3
"""Streaming: what the gateway does with signalling.

usage: streaming.py signalling|all [--sessions 1000] [--rate 2000] [--seconds 10]

signalling: a whole gateway whose region is played; an instance and a client in each of many sessions, over TLS; messages both
ways at a given rate. Latency of the relay against that of a bare echo in the same run, and memory of each session.
"""
import argparse
import contextlib
import json
import subprocess
import sys
import tempfile

import api
import results

RELAY_MARK_MS = 5


@contextlib.contextmanager
def serving(what, sessions):
    """`relay`, alone, or a whole `gateway`, in a process of its own: the process and what it says of itself."""
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
        command = [api.SVC_BENCH, what, "--directory", folder, "--sessions", str(sessions)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(60)


def measure(process, url, paths, echo, options):
    with tempfile.NamedTemporaryFile("w", prefix="svc-bench-") as file:
        file.write("\n".join(paths) + "\n")
        file.flush()
        return api.svc_bench("signalling", "--target", url, "--echo", echo, "--pid", process.pid, "--paths", file.name,
                             "--rate", options.rate, "--seconds", options.seconds)[0]


def report(measured, created):
    command = "tests/bench/streaming.py signalling"
    sessions = f"{measured['sessions']:,} sessions"
    note = (f"{measured['per_second']:,.0f} messages/s, {measured['lost']} lost, p50 {measured['p50_ms']:.2g} ms, "
            f"max {measured['max_ms']:.3g} ms")
    met = measured["p99_ms"] < RELAY_MARK_MS and measured["lost"] == 0
    results.report(f"Signalling, {sessions}, TLS: a message from one side to the other, 99th percentile", measured["p99_ms"],
                   measured["echo_p99_ms"], unit="ms", peer=f"a bare echo (p50 {measured['echo_p50_ms']:.2g} ms)",
                   mark=f"< {RELAY_MARK_MS} ms, none lost", met=met, command=command, note=note)
    results.report(f"Signalling, {sessions}, TLS: memory of each, both sockets open", measured["pss_kib_each"], unit="KiB",
                   command=command, note=f"RSS {measured['rss_kib_each']:.1f} KiB; its record {created['record_kib_each']:.1f} KiB")
    results.report(f"Sessions created one by one, with {sessions} in the end", created["created_per_second"], unit="/s",
                   command=command, note="region played")


def bench_signalling(options):
    with serving("relay", 1) as (_, echo), serving("gateway", options.sessions) as (process, gateway):
        report(measure(process, gateway["url"], gateway["paths"], echo["url"], options), gateway)


BENCHES = {"signalling": bench_signalling}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", choices=[*BENCHES, "all"])
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=2000, help="messages a second, of all sessions together")
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    for name, bench in BENCHES.items():
        if options.bench in (name, "all"):
            bench(options)


if __name__ == "__main__":
    sys.exit(main())

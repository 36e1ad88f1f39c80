#!/usr/bin/env python3
"""Streaming: what the gateway does with signalling, what a stream costs and how late it is.

usage: streaming.py signalling|cpu|glass|screen|all [--sessions 1000] [--rate 2000] [--seconds 10]

signalling: a whole gateway whose region is played; an instance and a client in each of many sessions, over TLS; messages both
ways at a given rate. Latency of the relay against that of a bare echo in the same run, and memory of each session.
cpu: processor time of a stream that a guest draws with, by each codec, against a bare encoding pipeline of the same frames.
glass: from the guest's frame to the pixels of a client that decodes it, over loopback.
screen: both for an X server's screen, while nothing moves and while something does.
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
STREAM_BENCH = api.SVC_BENCH.parent / "stream-bench"


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


def stream_bench(what, codec, width, height, fps, seconds):
    """What `stream-bench` measured, without a gateway."""
    command = [STREAM_BENCH, what, "--codec", codec, "--width", width, "--height", height, "--fps", fps, "--seconds", seconds]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def bench_cpu(options):
    for codec in ("H264", "VP8"):
        for width, height in ((1280, 720), (1920, 1080)):
            measured = stream_bench("cpu", codec, width, height, 30, options.seconds)
            results.report(f"Stream of {height}p30 by {codec}: processor", measured["processor"] * 100,
                           measured["bare_processor"] * 100, unit="%", peer="of one core, gst-launch that encodes the same frames",
                           command="tests/bench/streaming.py cpu",
                           note=f"of one core; {measured['frames_per_second']:.0f} frames/s arrived, {measured['kbps']:.0f} kbit/s, "
                                f"{measured['encode_ms']:.1f} ms to encode one")


def bench_glass(options):
    for codec in ("H264", "VP8"):
        for width, height in ((1280, 720), (1920, 1080)):
            measured = stream_bench("glass", codec, width, height, 60, options.seconds)
            results.report(f"Guest's frame to decoded pixels of the client, {height}p60 by {codec}, loopback: 99th percentile",
                           measured["p99_ms"], unit="ms", command="tests/bench/streaming.py glass",
                           note=f"p50 {measured['p50_ms']:.1f} ms, {measured['flips']} flips, decoder included")


def bench_screen(options):
    for codec in ("H264", "VP8"):
        for width, height in ((1280, 720), (1920, 1080)):
            measured = stream_bench("screen", codec, width, height, 30, options.seconds)
            still, square, pages = measured["still"], measured["square"], measured["pages"]
            results.report(f"X screen of {height}p30 by {codec} on which nothing moves: processor", still["processor"] * 100,
                           measured["bare_processor_still"] * 100, unit="%",
                           peer="of one core, gst-launch that encodes every frame", command="tests/bench/streaming.py screen",
                           note=f"of one core; {still['frames_per_second']:.1f} frames/s; a square that moves "
                                f"{square['processor'] * 100:.0f} %, whole pages {pages['processor'] * 100:.0f} %; "
                                f"RSS {measured['rss_kib'] / 1024:.0f} MiB, PSS {measured['pss_kib'] / 1024:.0f} MiB")
        measured = stream_bench("screen-glass", codec, 1280, 720, 30, options.seconds)
        rested = measured["after_rest"]
        results.report(f"Drawing of a program to decoded pixels, 720p30 by {codec}, after two seconds of rest: median",
                       rested["p50_ms"], measured["quick"]["p50_ms"], unit="ms", peer="ten changes a second",
                       command="tests/bench/streaming.py screen", note=f"{rested['flips']} flips, decoder included")


BENCHES = {"signalling": bench_signalling, "cpu": bench_cpu, "glass": bench_glass, "screen": bench_screen}


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

#!/usr/bin/env python3
"""Streaming: what the gateway does with signalling and with many sessions, what a stream costs and how late it is.

usage: streaming.py signalling|scale|cpu|glass|screen|all [--sessions 1000] [--rate 2000] [--seconds 10] [--many 10000]

signalling: a whole gateway whose region is played; an instance and a client in each of many sessions, over TLS; messages both
ways at a given rate. Latency and processor time of the relay against those of a bare echo over as many connections, in turns
of a second each; memory of each session.
scale: a gateway with many sessions against one with a tenth of them, in turns: creation, requests, metrics, restart.
cpu: processor time of a stream that a guest draws with, by each codec, against a bare encoding pipeline of the same frames.
glass: from the guest's frame to the pixels of a client that decodes it, over loopback.
screen: both for an X server's screen, while nothing moves and while something does.
`all` takes about eight minutes.
"""
import argparse
import base64
import contextlib
import http.client
import json
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

import api
import results

RELAY_MARK_MS = 5
STREAM_BENCH = api.SVC_BENCH.parent / "stream-bench"


@contextlib.contextmanager
def serving(what, sessions):
    """`relay`, alone, or a whole `gateway`, in a process of its own: the process and what it says of itself."""
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
        command = [str(api.SVC_BENCH), what, "--directory", folder, "--sessions", str(sessions)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(60)


def measure(gateway, echo, options):
    (process, made), (echo_process, made_echo) = gateway, echo
    with tempfile.NamedTemporaryFile("w", prefix="svc-bench-") as file:
        file.write("\n".join(made["paths"]) + "\n")
        file.flush()
        return api.svc_bench("signalling", "--target", made["url"], "--pid", process.pid, "--echo", made_echo["url"],
                             "--echo-pid", echo_process.pid, "--paths", file.name, "--rate", options.rate,
                             "--seconds", options.seconds)[0]


def report_signalling(measured):
    command = "tests/bench/streaming.py signalling"
    figure = f"Signalling, {measured['sessions']:,} sessions, TLS"
    relay, echo = measured["relay"], measured["echo"]
    met = relay["p99_ms"] < RELAY_MARK_MS and relay["lost"] == 0
    results.report(f"{figure}: a message from one side to the other, 99th percentile", relay["p99_ms"], echo["p99_ms"], unit="ms",
                   peer="a bare echo", mark=f"< {RELAY_MARK_MS} ms, none lost", met=met, command=command,
                   note=f"{relay['per_second']:,.0f} messages/s, {relay['lost']} lost, max {relay['max_ms']:.3g} ms")
    results.report(f"{figure}: likewise, median", relay["p50_ms"], echo["p50_ms"], unit="ms", peer="a bare echo", command=command)
    results.report(f"{figure}: processor time of a message", relay["processor_us"], echo["processor_us"], unit="us",
                   peer="a bare echo", command=command)
    results.report(f"{figure}: memory of each, both sockets open", measured["pss_kib_each"], unit="KiB", command=command,
                   note=f"RSS {measured['rss_kib_each']:.1f} KiB")
    results.report(f"{figure}: connections opened, instance and client", measured["opened_per_second"], unit="sessions/s",
                   command=command, note="the driver's half of TLS included")


def bench_signalling(options):
    with serving("relay", 1) as echo, serving("gateway", options.sessions) as gateway:
        report_signalling(measure(gateway, echo, options))


def socket_of(process):
    """The local socket of a `gateway`."""
    folder = process.args[process.args.index("--directory") + 1]
    return f"unix:{folder}/gateway.socket"


def report_requests(few, many, count):
    """The same of both; what the list's length cannot matter to must not become slower."""
    session = {process.pid: made["paths"][0].split()[2] for process, made in (few, many)}
    paths = {"GET of one session": "/1.0/sessions/{id}", "List of 100 sessions": "/1.0/sessions?limit=100",
             "List of 100 sessions, recursion": "/1.0/sessions?limit=100&recursion=true",
             "List of all sessions": "/1.0/sessions", "List of all sessions, recursion": "/1.0/sessions?recursion=true",
             "List of sessions in error": "/1.0/sessions?status=error"}
    for figure, path in paths.items():
        measured = api.svc_bench("http", "--target", socket_of(many[0]), "--path", path.format(id=session[many[0].pid]),
                                 "--peer", socket_of(few[0]), "--peer-path", path.format(id=session[few[0].pid]),
                                 "--connections", 16, "--seconds", 1, "--rounds", 3)[0]
        ours, peer = measured["ours"], measured["peer"]
        results.report(f"{figure}, among {count:,}, 16 connections", ours["per_second"], peer["per_second"], unit="/s",
                       peer=f"among {count // 10:,}", command="tests/bench/streaming.py scale",
                       note=f"p99 {api.milliseconds(ours['p99_ms'])}, {ours['failures']} failures")


def scrape_ms(made):
    """The median of some scrapes over one connection."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    address = urllib.parse.urlsplit(made["metrics"])
    connection = http.client.HTTPSConnection(address.hostname, address.port, context=context)
    credentials = base64.b64encode(b"bench:bench").decode()
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        connection.request("GET", "/internal/1.0/metrics", headers={"Authorization": f"Basic {credentials}"})
        answer = connection.getresponse()
        assert answer.status == 200 and b"stream_gateway_sessions_total" in answer.read()
        times.append((time.perf_counter() - begin) * 1000)
    connection.close()
    return statistics.median(times)


def bench_scale(options):
    command = "tests/bench/streaming.py scale"
    count = options.many
    with serving("gateway", count // 10) as few, serving("gateway", count) as many:
        fewer, more = few[1], many[1]
        among = f"among {count // 10:,}"
        results.report(f"Sessions created one by one, {count:,} in the end", more["created_per_second"],
                       fewer["created_per_second"], unit="/s", peer=f"{count // 10:,} in the end", mark="at least 0.7 x",
                       met=more["created_per_second"] >= 0.7 * fewer["created_per_second"], command=command, note="region played")
        results.report(f"Record of a session, {count:,} of them", more["record_kib_each"], fewer["record_kib_each"], unit="KiB",
                       peer=among, command=command)
        results.report(f"Restart with {count:,} sessions, until it serves and knows its region", more["restart_ms"],
                       fewer["restart_ms"], unit="ms", peer=among, command=command)
        report_requests(few, many, count)
        results.report(f"Metrics scraped, {count:,} sessions, TLS", scrape_ms(more), scrape_ms(fewer), unit="ms", peer=among,
                       command=command)


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


BENCHES = {"signalling": bench_signalling, "scale": bench_scale, "cpu": bench_cpu, "glass": bench_glass,
           "screen": bench_screen}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", choices=[*BENCHES, "all"])
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=2000, help="messages a second, of all sessions together")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--many", type=int, default=10_000, help="sessions of `scale`")
    options = parser.parse_args()
    for name, bench in BENCHES.items():
        if options.bench in (name, "all"):
            bench(options)


if __name__ == "__main__":
    sys.exit(main())

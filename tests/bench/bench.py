#!/usr/bin/env python3
"""Some figures of docs/performance.md. Each prints ours, the baseline's and the ratio, measured in turns in one run.

usage: bench.py idle|list|upload|all [--json FILE]     (build first; idle needs root for its second half)
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness
import packages

RESULTS = []


def report(name, ours, baseline, unit, mark):
    ratio = ours / baseline if baseline else float("nan")
    RESULTS.append({"name": name, "ours": ours, "baseline": baseline, "ratio": ratio, "unit": unit, "mark": mark})
    print(f"{name:52} ours {ours:9.2f} {unit:4} baseline {baseline:9.2f} {unit:4} ratio {ratio:5.2f}   (mark: {mark})",
          flush=True)


def timed(work, *arguments):
    begin = time.monotonic()
    work(*arguments)
    return (time.monotonic() - begin) * 1000


def resident(pid, key="VmRSS"):
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith(key)) / 1024


def bench_idle():
    times = []
    daemon = harness.Daemon("simulated").start()
    try:
        for _ in range(10):
            daemon.kill()
            times.append(timed(daemon.start))
        report("svcd: start to ready (median)", statistics.median(times), 100, "ms", "100 ms")
        report("svcd: resident, idle", resident(daemon.process.pid), 20, "MiB", "20 MiB")
    finally:
        daemon.close()
    if os.geteuid() != 0:
        return
    daemon = harness.Daemon().start()
    try:
        report("svcd with the lxc runtime: start to ready", statistics.median(timed(daemon.restart) for _ in range(5)), 100,
               "ms", "100 ms")
        report("svcd with the lxc runtime: resident, idle", resident(daemon.process.pid), 20, "MiB", "20 MiB")
    finally:
        daemon.close()


def bench_list(count=10_000):
    daemon = harness.Daemon("simulated", simulated_cpus=100_000, keep_operations=50_000).start()
    try:
        fill(daemon, count)
        lists = [timed(daemon.api, "GET", "/1.0/containers?recursion=1") for _ in range(20)]
        report(f"GET /1.0/containers?recursion=1, {count} instances", statistics.median(lists), 150, "ms", "150 ms")
        one = daemon.containers()[count // 2]["id"]
        singles = keep_alive_gets(daemon, f"/1.0/containers/{one}", 5000)
        report("GET of one instance, 99th percentile", singles[int(len(singles) * 0.99)], 1, "ms", "1 ms")
        report(f"resident with {count} instances", resident(daemon.process.pid), 20, "MiB", "-")
    finally:
        daemon.kill()
        shutil.rmtree(daemon.dir)


def fill(daemon, count, at_once=16):
    with tempfile.TemporaryDirectory() as folder:
        package = harness.changed_image(folder, lambda rootfs: None)
        daemon.add_image("plain", package)
    body = {"image_id": "plain", "instance_type": "a2.3", "memory": 32 << 20, "disk_size": 64 << 20, "cpu": 1}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        replies = list(pool.map(lambda _: daemon.api("POST", "/1.0/containers", body), range(count)))
    bad = [r.raw for r in replies if r.status != 202]
    assert not bad, bad[:3]
    daemon.wait_operation(replies[-1].metadata["id"])
    for reply in replies:
        daemon.wait_operation(reply.metadata["id"])
    print(f"launched {count} simulated instances, {count / (time.monotonic() - begin):.0f} a second", flush=True)


def keep_alive_gets(daemon, path, count):
    connection = harness.UnixConnection(daemon.socket)
    connection.connect()
    text = f"GET {path} HTTP/1.1\r\nHost: svc\r\n\r\n".encode()
    times = []
    for _ in range(count):
        begin = time.monotonic()
        connection.sock.sendall(text)
        received = connection.sock.recv(65536)
        times.append((time.monotonic() - begin) * 1000)
        assert received.startswith(b"HTTP/1.1 200"), received
    connection.close()
    return sorted(times)


def bench_upload(megabytes=1024):
    daemon = harness.Daemon("simulated").start()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-bench-", dir="/var/tmp"))
    try:
        package = folder / "big.tar.gz"
        with open(package, "wb") as out:  # a valid gzip tarball whose bulk is not compressible
            subprocess.run([harness.ROOT / "tests/images/busybox.sh", folder / "small.tar.gz", str(megabytes)], check=True)
        os.replace(folder / "small.tar.gz", package)
        ours, theirs, grown = [], [], []
        for index in range(3):
            before = resident(daemon.process.pid)
            ours.append(timed(packages.upload, daemon, package, f"big{index}"))
            grown.append(resident(daemon.process.pid, "VmHWM") - before)
            daemon.succeed(daemon.api("DELETE", f"/1.0/images/big{index}", {"force": True}))
            theirs.append(timed(baseline_copy, package, folder / "copy"))
        report(f"upload of {megabytes} MiB, until 202 (median)", statistics.median(ours), statistics.median(theirs), "ms",
               "1.25 x (sha256sum + one synced write)")
        report("resident memory grown by it", max(grown), 32, "MiB", "32 MiB")
    finally:
        daemon.close()
        shutil.rmtree(folder)


def baseline_copy(package, copy):
    subprocess.run(["sha256sum", package], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["dd", f"if={package}", f"of={copy}", "bs=1M", "conv=fdatasync", "status=none"], check=True)
    os.unlink(copy)


BENCHES = {"idle": bench_idle, "list": bench_list, "upload": bench_upload}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*BENCHES, "all"])
    parser.add_argument("--json", help="also write the figures there")
    options = parser.parse_args()
    for name, bench in BENCHES.items():
        if options.what in (name, "all"):
            bench()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(RESULTS, indent=2) + "\n")


if __name__ == "__main__":
    main()

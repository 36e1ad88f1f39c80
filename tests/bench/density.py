#!/usr/bin/env python3
"""What one more instance costs besides its guest, and how soon a killed svcd knows its instances again.

usage: density.py [--count N] [--readopt N]     (build first; needs root)

Per instance: the proportional set size of its monitor and its agent, and its share of what svcd has grown by. The guest's own
processes are told apart. Then svcd is killed with --readopt of them left, and started again.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import statistics
import time

import results
from peers import Svcd, harness

MARK_MIB = 6
START_MARK_MS = 100


def proportional_set(pid):
    """In KiB; 0 when the process has just gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def groups_of(daemon):
    """KiB by what a process is: monitors and agents are ours, the rest of a container's processes are the guest's."""
    sums, counts = collections.Counter(), collections.Counter()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        kind = kind_of(entry, daemon)
        if kind:
            sums[kind] += proportional_set(entry)
            counts[kind] += 1
    return sums, counts


def kind_of(pid, daemon):
    try:
        groups = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
        program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return None
    if f"svc-{daemon.bridge}/" not in groups:
        return None
    return {"svc-launch": "monitor", "svc-lxc": "monitor", "svc-agent": "agent"}.get(program, "guest")


def settle(daemon, count):
    """Waits until the helpers of the last starts have gone."""
    assert daemon.eventually(lambda: groups_of(daemon)[1]["agent"] >= count), groups_of(daemon)[1]


def density(svcd, count, command):
    daemon = svcd.daemon
    node = svcd.api.call("GET", "/1.0/nodes")[0].rsplit("/", 1)[1]
    svcd.api.call("PATCH", f"/1.0/nodes/{node}", {"cpus": max(4, count // 50)})  # to promise that many is not to give them
    before = proportional_set(daemon.process.pid)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: svcd.start(memory=32 << 20), range(count)))
    settle(daemon, count)
    sums, counts = groups_of(daemon)
    parts = {kind: sums[kind] / 1024 / count for kind in ("monitor", "agent", "guest")}
    parts["svcd"] = (proportional_set(daemon.process.pid) - before) / 1024 / count
    print(f"{count} instances: {counts['monitor']} monitors, {counts['agent']} agents, {counts['guest']} processes of guests", flush=True)
    for kind, size in parts.items():
        results.report(f"Each of {count} instances: {kind}", size, unit="MiB", command=command)
    own = parts["monitor"] + parts["agent"] + parts["svcd"]
    results.report(f"Each of {count} instances: monitor, agent and share of svcd", own, MARK_MIB, unit="MiB", peer="the mark",
                   mark=f"{MARK_MIB} MiB", met=own <= MARK_MIB, command=command)
    return ids


def readopt(svcd, count, command, rounds=5):
    """From the start of the new svcd until it is ready, when it has all of them back."""
    daemon, times = svcd.daemon, []
    inits = {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if kind_of(pid, daemon)}
    for _ in range(rounds):
        daemon.kill()
        begin = time.monotonic()
        daemon.start()
        times.append((time.monotonic() - begin) * 1000)
        running = [c for c in daemon.containers() if c["status"] == "running"]
        assert len(running) == count, f"{len(running)} of {count}: {daemon.log()}"
    kept = {pid for pid in inits if kind_of(pid, daemon)}
    assert kept == inits, f"{len(inits - kept)} processes did not outlive svcd"
    results.report(f"Killed to ready with {count} running instances again", statistics.median(times), START_MARK_MS, unit="ms",
                   peer="the mark of an empty one", command=command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--readopt", type=int, default=100)
    options = parser.parse_args()
    command = "tests/bench/density.py"
    svcd = Svcd(prefix=20, memory_allocation_rate=100)
    try:
        ids = density(svcd, options.count, command)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(svcd.remove, ids[options.readopt:]))
        readopt(svcd, min(options.readopt, options.count), command)
    finally:
        svcd.close()


if __name__ == "__main__":
    main()

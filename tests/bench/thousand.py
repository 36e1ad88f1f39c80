#!/usr/bin/env python3
"""What becomes of launches, memory and a restart of svcd when 1,000 instances run on this machine.

usage: thousand.py [--count N]     (build first; needs root and 4 GiB)

The last launches are compared with the first ones, one at a time, of the same run. Memory is what density.py counts. Then svcd is
killed and started again with all of them, and what is launched beyond the ports of one bridge is refused before it begins.
"""
import argparse
import concurrent.futures
import statistics
import time

import density
import results
from peers import Svcd

COMMAND = "tests/bench/thousand.py"
TIMED = 50
BRIDGE_PORTS = 1023  # of the kernel's bridge
MARK_GROWTH, MARK_MIB = 1.3, 1.6


def timed(svcd):
    """Milliseconds of each of TIMED launches, one after another."""
    times = []
    for _ in range(TIMED):
        begin = time.monotonic()
        svcd.start(memory=32 << 20)
        times.append((time.monotonic() - begin) * 1000)
    return times


def side_by_side(svcd, count):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: svcd.start(memory=32 << 20), range(count)))


def running(daemon):
    return sum(container["status"] == "running" for container in daemon.containers())


def launches(svcd, count):
    first = timed(svcd)
    side_by_side(svcd, count - 2 * TIMED)
    last = timed(svcd)
    assert running(svcd.daemon) == count, f"{running(svcd.daemon)} of {count} run: {svcd.daemon.log()}"
    ratio = statistics.median(last) / statistics.median(first)
    results.report(f"Launch of the last {TIMED} of {count}", statistics.median(last), statistics.median(first), unit="ms",
                   peer=f"the first {TIMED}", mark=f"{MARK_GROWTH} x", met=ratio <= MARK_GROWTH, command=COMMAND)


def memory(svcd, count, empty):
    density.settle(svcd.daemon, count)
    sums, _ = density.groups_of(svcd.daemon)
    parts = {kind: sums[kind] / 1024 / count for kind in ("monitor", "agent", "guest")}
    parts["svcd"] = (density.proportional_set(svcd.daemon.process.pid) - empty) / 1024 / count
    for kind, size in parts.items():
        results.report(f"Each of {count} instances: {kind}", size, unit="MiB", command=COMMAND)
    own = sum(parts.values()) - parts["guest"]
    results.report(f"Each of {count} instances: monitor, agent and share of svcd", own, MARK_MIB, unit="MiB", peer="the mark",
                   mark=f"{MARK_MIB} MiB", met=own <= MARK_MIB, command=COMMAND)


def restart(svcd, count):
    svcd.daemon.kill()
    begin = time.monotonic()
    svcd.daemon.start()
    ready = (time.monotonic() - begin) * 1000
    assert running(svcd.daemon) == count, f"{running(svcd.daemon)} of {count} run again: {svcd.daemon.log()}"
    results.report(f"Killed to ready with {count} running instances again", ready / count, unit="ms each",
                   note=f"{ready:.0f} ms in all", command=COMMAND)


def beyond(svcd, count):
    """Fills the bridge; what comes then is refused, and what runs goes on."""
    side_by_side(svcd, BRIDGE_PORTS - count)
    record = svcd.daemon.wait(svcd.daemon.api("POST", "/1.0/containers", {"image_id": "plain", "instance_type": "a2.3", "memory": 32 << 20}))
    print(f"one more than {BRIDGE_PORTS}: {record['status']}: {record['err']}", flush=True)
    assert running(svcd.daemon) == BRIDGE_PORTS, f"{running(svcd.daemon)}: {svcd.daemon.log()}"


def delete_all(svcd):
    ids = [container["id"] for container in svcd.daemon.containers()]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(svcd.remove, ids))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    svcd = Svcd(prefix=20, memory_allocation_rate=100)
    try:
        node = svcd.api.call("GET", "/1.0/nodes")[0].rsplit("/", 1)[1]
        svcd.api.call("PATCH", f"/1.0/nodes/{node}", {"cpus": max(4, count // 50)})  # to promise that many is not to give them
        empty = density.proportional_set(svcd.daemon.process.pid)
        launches(svcd, count)
        memory(svcd, count, empty)
        restart(svcd, count)
        if count == 1000:
            beyond(svcd, count)
    finally:
        delete_all(svcd)  # by force: close() would ask each guest to end
        svcd.close()


if __name__ == "__main__":
    main()

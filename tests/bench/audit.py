#!/usr/bin/env python3
"""What the audit costs a launch, in processor time of svcd with the defaults and the simulated runtime.

usage: audit.py [--count 20000] [--rounds 5]     (build first)

In turns: reads and deletions of a path that is not there, which differ in the entry of the audit alone, its line and its event; then
launches, each with one entry. An entry of a refusal costs more than that of a launch: a thread of the audit is woken to write it.
"""
import argparse
import pathlib
import statistics
import sys

import burst
import results
import scale
from scale import harness

COMMAND = "tests/bench/audit.py"
MARK = 0.05


def refused(cluster, method, count):
    """Microseconds of processor time of a request that is answered 404, asked one by one."""
    connection = harness.UnixConnection(cluster.daemon.socket)
    connection.connect()
    text = burst.request(method, "/1.0/nothing")
    before = cluster.cpu_seconds()
    for _ in range(count):
        connection.sock.sendall(text)
        received = connection.sock.recv(65536)
        assert received.startswith(b"HTTP/1.1 404"), received
    connection.close()
    return (cluster.cpu_seconds() - before) / count * 1e6


def lines(cluster):
    return sum(path.read_bytes().count(b"\n") for path in pathlib.Path(cluster.daemon.state).glob("audit.log*"))


def measure(cluster, count, rounds):
    cluster.launch(scale.WARM_UP)
    before = lines(cluster)
    read, written = [], []
    for _ in range(rounds):
        read.append(refused(cluster, "GET", count))
        written.append(refused(cluster, "DELETE", count))
    assert lines(cluster) == before + rounds * count
    cluster.settle()
    launch = statistics.median(cluster.launch(scale.SAMPLE)[0] for _ in range(rounds))
    return statistics.median(written) - statistics.median(read), launch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cluster = scale.Cluster()
    try:
        entry, launch = measure(cluster, options.count, options.rounds)
    finally:
        cluster.close()
    results.report("Entry of the audit, of a refusal, against a launch: processor time", entry, launch, unit="us", peer="a launch (simulated)", mark=f"{MARK} x",
                   met=entry <= MARK * launch, command=COMMAND)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Reads at a follower of three managers on etcd, against an svcd with SQLite that has as many instances, in turns in one run.

usage: followers.py [--instances 1000] [--seconds 3] [--rounds 3] [--connections 1,64]     (build first)

GET of one instance, the list of all, and what events take to 200 subscribers while operations make 200 of them a second: at the follower
they come from the leader first.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shutil
import sys
import tempfile

import results
from api import LAUNCH, milliseconds, served, svc_bench

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cluster  # noqa: E402
from cluster import harness, until  # noqa: E402

COMMAND = "tests/bench/followers.py"
ROOM = {"simulated_cpus": 1_000_000, "simulated_memory": "1000TB", "operation_queue": 20_000}
SHARE = 0.9  # of SQLite's rate
PEER = "one svcd with SQLite"
SUBSCRIBERS, RATE = 200, 200


def fill(daemon, count):
    """The id of one of them."""
    with tempfile.TemporaryDirectory() as folder:
        daemon.add_image("plain", harness.changed_image(folder, lambda rootfs: None))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda _: daemon.launch_any(LAUNCH), range(count)))[0]


def compare(figure, follower, alone, path, peer_path, options):
    for connections in options.connections:
        measured = svc_bench("http", "--target", f"unix:{follower.socket}", "--path", path, "--peer", f"unix:{alone.socket}", "--peer-path",
                             peer_path, "--connections", connections, "--seconds", options.seconds, "--rounds", options.rounds)[0]
        ours, theirs = measured["ours"], measured["peer"]
        results.report(f"{figure} at a follower, {connections} connections", ours["per_second"], theirs["per_second"], unit="/s",
                       note=f"p50 {milliseconds(ours['p50_ms'])}, p99 {milliseconds(ours['p99_ms'])}{served(ours, connections)}",
                       peer=f"{PEER} (p50 {milliseconds(theirs['p50_ms'])}, p99 {milliseconds(theirs['p99_ms'])})", mark=f"at least {SHARE} x",
                       met=ours["per_second"] >= SHARE * theirs["per_second"], command=COMMAND)


def events(daemon, options):
    return svc_bench("events", "--target", f"unix:{daemon.socket}", "--call", "/1.0/containers", "--body", json.dumps(LAUNCH), "--subscribers",
                     SUBSCRIBERS, "--rate", RATE, "--seconds", options.seconds + 2)[0]


def compare_events(follower, alone, options):
    ours, theirs = events(follower, options), events(alone, options)
    lost = ours["lost"] + ours["cut_off"]
    results.report(f"Events to {SUBSCRIBERS} subscribers of a follower, 99th percentile", ours["p99_ms"], theirs["p99_ms"], unit="ms",
                   note=f"{ours['events_per_second']:,.0f} events/s, {lost} lost, p50 {milliseconds(ours['p50_ms'])}",
                   peer=f"{PEER} ({theirs['events_per_second']:,.0f} events/s, p50 {milliseconds(theirs['p50_ms'])})", command=COMMAND)


def measure(follower, alone, options):
    one, another = fill(follower, options.instances), fill(alone, options.instances)
    until("the follower has them all", lambda: len(follower.containers()) == options.instances)
    compare("GET of one instance", follower, alone, f"/1.0/containers/{one}", f"/1.0/containers/{another}", options)
    compare(f"List of {options.instances:,}, recursion=1", follower, alone, *["/1.0/containers?recursion=1"] * 2, options)
    compare_events(follower, alone, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=3, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=lambda text: [int(n) for n in text.split(",")], default=[1, 64])
    options = parser.parse_args()
    alone, managers = harness.Daemon("simulated", "/dev/shm", **ROOM), cluster.Cluster(3, **ROOM)
    for daemon in (alone, *managers.managers):
        daemon.subnet = None  # svcd's own is large enough
    alone.start()
    try:
        with managers:
            measure(managers.followers()[0], alone, options)
    finally:
        alone.kill()
        shutil.rmtree(alone.dir)


if __name__ == "__main__":
    main()

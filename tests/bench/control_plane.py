#!/usr/bin/env python3
"""What a launch costs beside the runtime's work: one by one through the leader and through a follower, with a runtime whose calls take no time.

usage: control_plane.py [--count 50]     (build first; needs etcd)

Three managers, three members of etcd whose disks are in memory. The agent's report comes as soon as the container has been started.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile

import clients
import results
from cluster_peers import seconds_of_process
from launch import timed

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cluster  # noqa: E402
from cluster import harness  # noqa: E402

COMMAND = "tests/bench/control_plane.py"
MARK = 15  # milliseconds
LAUNCH = {"image_id": "plain", "instance_type": "a2.3", "memory": 32 << 20, "disk_size": 64 << 20, "cpu": 1}


def measure(managers, asked, who, count):
    api = clients.Api(asked.socket)
    api.call("POST", "/1.0/containers", LAUNCH)
    before = [seconds_of_process(manager.process.pid) for manager in managers]
    took = statistics.median(timed(api.call, "POST", "/1.0/containers", LAUNCH)[1] for _ in range(count))
    used = sum(seconds_of_process(manager.process.pid) - then for manager, then in zip(managers, before)) * 1000 / count
    results.report(f"Launch without the runtime's work, asked of {who} (median of {count})", took, unit="ms", mark=f"{MARK} ms", met=took <= MARK,
                   note=f"processor time of the managers {used:.1f} ms", command=COMMAND)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    with cluster.Cluster(3, 3, simulated_cpus=1_000_000, simulated_memory="1000TB") as managers:
        with tempfile.TemporaryDirectory() as folder:
            managers.managers[0].add_image("plain", harness.changed_image(folder, lambda rootfs: None))
        measure(managers.managers, managers.leader(), "the leader", options.count)
        measure(managers.managers, managers.followers()[0], "a follower", options.count)


if __name__ == "__main__":
    main()

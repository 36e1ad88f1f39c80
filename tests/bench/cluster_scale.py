#!/usr/bin/env python3
"""What many stored instances cost three managers on an etcd of three members: simulated runtimes with 1,000 nodes between them.

usage: cluster_scale.py [SIZE ...] [--nodes 1000]     (1000 10000 100000; the first is what the others are compared with)

At each size: processor time of a launch and of a deletion (of the managers and of etcd), what etcd sends for it, how long a follower
takes from start to ready, how long nobody leads after the leader was killed, and memory. etcd lies in memory: its disk is not measured.
"""
import argparse
import concurrent.futures
import pathlib
import random
import re
import sys
import tempfile
import time
import urllib.request

import burst
import results
from cluster_peers import seconds_of_process

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cluster  # noqa: E402
from cluster import harness, until  # noqa: E402

COMMAND = "tests/bench/cluster_scale.py"
SAMPLE = 1000
KEPT_OPERATIONS = 1000
PIECE = 2000  # launches before it is looked at the time
LIMIT = 3000  # seconds that may be spent on the way to a size
GROWTH = 1.25
PATIENCE = 600
LAUNCH = {"image_id": "plain", "instance_type": "a2.3", "memory": 32 << 20, "disk_size": 64 << 20, "cpu": 1}


class Simulation:
    def __init__(self, nodes):
        self.cluster = cluster.Cluster(3, 3, simulated_nodes=-(-nodes // 3), simulated_cpus=10_000, simulated_memory="100TB",
                                       cluster_subnet="10.0.0.0/8", node_prefix=10)
        for manager in self.cluster.managers:
            manager.subnet = None  # they take parts of the cluster's
        self.cluster.__enter__()
        self.managers, self.ids, self.random = self.cluster.managers, [], random.Random(1)
        self.nodes = 3 * -(-nodes // 3)
        until("all nodes are online", lambda: self.online() == self.nodes)
        with tempfile.TemporaryDirectory() as folder:
            self.managers[0].add_image("plain", harness.changed_image(folder, lambda rootfs: None))

    def online(self):
        return sum(node["status"] == "online" for node in self.managers[0].api("GET", "/1.0/nodes?recursion=1").metadata or [])

    def seconds(self):
        """Of the managers and of etcd."""
        return (sum(seconds_of_process(manager.process.pid) for manager in self.managers),
                sum(seconds_of_process(process.pid) for process in self.cluster.etcd.processes))

    def sent(self):
        """Bytes that etcd's members have sent to whoever asked or watches."""
        return sum(metric(url, "etcd_network_client_grpc_sent_bytes_total") for url in self.cluster.etcd.members)

    def run(self, requests):
        """The records, and of each operation: microseconds of the managers and of etcd, bytes, and how many there were a second."""
        shares = [requests[i::len(self.managers)] for i in range(len(self.managers))]
        before, sent, begin = self.seconds(), self.sent(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(len(shares)) as pool:
            records = sum(pool.map(lambda m, share: burst.send_all(m.socket, share, at_once=22), self.managers, shares), [])
        took, count = time.monotonic() - begin, len(requests)
        managers, etcd = ((now - then) / count * 1e6 for now, then in zip(self.seconds(), before))
        return records, {"managers": managers, "etcd": etcd, "bytes": (self.sent() - sent) / count, "rate": count / took}

    def launch(self, count):
        records, figures = self.run([burst.request("POST", "/1.0/containers", LAUNCH)] * count)
        self.ids += [record["resources"]["containers"][0].rsplit("/", 1)[1] for record in records]
        return figures

    def delete(self, count):
        self.random.shuffle(self.ids)
        gone, self.ids = self.ids[:count], self.ids[count:]
        return self.run([burst.request("DELETE", f"/1.0/containers/{id}", {"force": True}) for id in gone])[1]

    def grow(self, size):
        """As far as the time allows."""
        end = time.monotonic() + LIMIT
        while len(self.ids) < size and time.monotonic() < end:
            self.launch(min(PIECE, size - len(self.ids)))

    def settle(self):
        def kept():
            return sum(map(len, self.managers[0].api("GET", "/1.0/operations").metadata.values())) <= KEPT_OPERATIONS or time.sleep(0.5)
        until("finished operations are forgotten", kept, PATIENCE)

    def start_of_follower(self):
        """Milliseconds and processor milliseconds until it is ready with all instances."""
        follower = self.cluster.followers()[0]
        follower.kill()
        begin = time.monotonic()
        follower.start()
        until("it knows all instances", lambda: len(follower.api("GET", "/1.0/containers").metadata or []) == len(self.ids), PATIENCE)
        return (time.monotonic() - begin) * 1000, seconds_of_process(follower.process.pid) * 1000

    def takeover(self):
        """Seconds from the leader's death until another one has launched an instance."""
        leader = self.cluster.leader()
        other = next(manager for manager in self.managers if manager is not leader)
        leader.kill()
        begin = time.monotonic()
        body = burst.request("POST", "/1.0/containers", LAUNCH)
        record = until("an instance is launched", lambda: attempt(other, body), PATIENCE)
        took = time.monotonic() - begin
        self.ids.append(record["resources"]["containers"][0].rsplit("/", 1)[1])
        leader.start()
        until("all nodes are online again", lambda: self.online() == self.nodes, PATIENCE)
        return took

    def memory(self):
        """MiB of the leader, of a follower and of a member of etcd."""
        leader = self.cluster.leader()
        return [resident(each) for each in (leader.process.pid, self.cluster.followers()[0].process.pid,
                                            self.cluster.etcd.processes[0].pid)]

    def close(self):
        self.cluster.close()


def attempt(manager, body):
    """None: there is no leader yet. On a node of the dead one it cannot be."""
    try:
        return burst.send_all(manager.socket, [body], at_once=1)[0]
    except AssertionError:
        time.sleep(0.1)
        return None


def metric(url, name):
    text = urllib.request.urlopen(f"{url}/metrics", timeout=10).read().decode()
    return float(re.search(rf"^{name} (\S+)", text, re.M)[1])


def resident(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def measure(simulation, size):
    simulation.grow(size)
    simulation.settle()
    sample = min(SAMPLE, len(simulation.ids))
    figures = {"delete": simulation.delete(sample), "launch": simulation.launch(sample)}
    simulation.settle()
    figures["size"], figures["memory"] = len(simulation.ids), simulation.memory()
    figures["start"], figures["takeover"] = simulation.start_of_follower(), simulation.takeover()
    return figures


def report(figure, ours, baseline=None, **more):
    results.report(figure, ours, baseline, command=COMMAND, **more)


def report_size(figures, base):
    size, few = figures["size"], f"with {base['size']:,} stored"
    for what in ("launch", "delete"):
        ours, theirs = figures[what], base[what]
        for whose in ("managers", "etcd"):
            report(f"{what} with {size:,} stored by 3 managers: CPU each of the {whose}", ours[whose], theirs[whose], unit="us", peer=few,
                   note=f"{ours['rate']:,.0f} /s", mark=f"at most {GROWTH} x", met=ours[whose] <= GROWTH * theirs[whose])
        report(f"{what} with {size:,} stored by 3 managers: what etcd sends", ours["bytes"] / 1024, theirs["bytes"] / 1024, unit="KiB", peer=few)
    report(f"a follower's start with {size:,} stored ({figures['start'][1]:,.0f} ms of CPU)", figures["start"][0], base["start"][0], unit="ms", peer=few)
    report(f"takeover with {size:,} stored, until a launch has ended", figures["takeover"], base["takeover"], unit="s", peer=few, mark="10 s",
           met=figures["takeover"] <= 10)
    for who, ours, theirs in zip(("leader", "follower", "member of etcd"), figures["memory"], base["memory"]):
        report(f"resident memory of a {who}, {size:,} stored", ours, theirs, unit="MiB", peer=few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[1000, 10_000, 100_000])
    parser.add_argument("--nodes", type=int, default=1000)
    options = parser.parse_args()
    simulation, base = Simulation(options.nodes), None
    try:
        simulation.launch(SAMPLE)  # pools and caches
        simulation.delete(SAMPLE)
        for size in options.sizes:
            figures = measure(simulation, size)
            base = base or figures
            report_size(figures, base)
    finally:
        simulation.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Launch, exec, delete, again and again: what svcd and the machine have afterwards is what they had before.

SVC_LEAK_CYCLES (50): how often. The counters are printed."""
import collections
import concurrent.futures
import os
import pathlib
import sqlite3
import subprocess

import harness

CYCLES = int(os.environ.get("SVC_LEAK_CYCLES", "50"))
AT_ONCE = 4
WARM_UP = 40  # pools and caches are there afterwards
KEPT = 20  # finished operations
SMALL = {"cpu": 1, "memory": 32 << 20, "disk_size": 64 << 20}
SERVICES = [{"name": "web", "port": 80, "protocols": ["tcp"], "expose": True}, {"name": "dns", "port": 53, "protocols": ["udp"]}]
# A pool starts a thread when a job would have to wait: it may not have met that yet. A thread a cycle would be more.
MORE_THREADS = CYCLES // 2 + 5
# What svcd may grow by, in KiB: what allocators keep for each of its threads, the window of recent events as it fills (16 MiB at
# most), and a little a cycle.
GROWTH = (16 << 10) + min(16 << 10, 20 * CYCLES) + CYCLES


def status_of(pid, field):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise AssertionError(f"no {field} of process {pid}")


def children_of(pid):
    """With those that have ended and were not waited for."""
    count = 0
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            count += int(pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1]) == pid
        except OSError:
            pass
    return count


def descriptors_of(pid):
    kinds = collections.Counter()
    for entry in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{entry}")
        except OSError:
            continue
        kinds[target.split(":")[0] if ":" in target else "file"] += 1
    return dict(sorted(kinds.items()))


def groups_of(bridge):
    return sum(f"svc-{bridge}" in str(folder) for folder, _, _ in os.walk("/sys/fs/cgroup"))


def rules_of(bridge):
    """Lines of the tables of the bridge: rules, and elements of sets and maps."""
    tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True, check=True).stdout.splitlines()
    lines = 0
    for table in tables:
        if bridge in table:
            shown = subprocess.run(["nft", "list", *table.split()], capture_output=True, text=True, check=True).stdout
            lines += shown.count("\n") + shown.count(",")
    return lines


def files_of(state):
    """Of the store and the events the number of files is free."""
    free = {state / "events"}
    count = 0
    for folder, folders, files in os.walk(state):
        if pathlib.Path(folder) in free:
            folders.clear()
            continue
        count += len(folders) + sum(not name.startswith("svc.db") for name in files)
    return count


def records_of(state):
    """Of the operations the newest are kept."""
    with sqlite3.connect(f"file:{state / 'svc.db'}?mode=ro", uri=True) as store:
        kinds = collections.Counter(key.split("/")[0] for (key,) in store.execute("select key from entries"))
    kinds["operations"] = max(0, kinds["operations"] - KEPT)
    return {kind: count for kind, count in sorted(kinds.items()) if count}


class Leaks(harness.DaemonTest):
    settings = {"cpu_allocation_rate": 64, "memory_allocation_rate": 16, "keep_operations": KEPT}

    def status(self, field):
        return status_of(self.daemon.process.pid, field)

    def counters(self):
        daemon = self.daemon
        pid = daemon.process.pid
        return {
            "processes": children_of(pid), "descriptors": descriptors_of(pid),
            "mounts": sum(str(daemon.dir) in mount for mount in harness.mounts()), "control groups": groups_of(daemon.bridge),
            "devices": len(os.listdir(f"/sys/class/net/{daemon.bridge}/brif")), "rules": rules_of(daemon.bridge),
            "files": files_of(daemon.state), "records": records_of(daemon.state),
        }

    def cycle(self, number):
        daemon = self.daemon
        id = daemon.launch(services=SERVICES, user_data="x" * 100, **SMALL)
        container = daemon.container(id)
        self.assertEqual(daemon.execute(id, "echo", "alive"), "alive\n")
        daemon.succeed(daemon.api("DELETE", f"/1.0/containers/{id}", {"force": number % 2 == 0}))
        return container["address"], [service["node_port"] for service in container["services"]]

    def cycles(self, count):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(self.cycle, range(count)))

    def test_nothing_grows(self):
        self.cycles(WARM_UP)
        before, resident, threads = self.settled(), self.status("VmRSS"), self.status("Threads")
        given = self.cycles(CYCLES)
        self.daemon.eventually(lambda: self.counters() == before)
        after, grown, started = self.counters(), self.status("VmRSS") - resident, self.status("Threads") - threads
        print(f"{CYCLES} cycles: {after}, {threads} threads and {started} more, resident set {resident} KiB and {grown} KiB more",
              flush=True)
        self.assertEqual(after, before)
        self.assertLess(grown, GROWTH)
        self.assertLess(started, MORE_THREADS)
        # Addresses and ports go round: more would be more than were there at once, and those that are given back late.
        self.assertLessEqual(len({address for address, _ in given}), 3 * AT_ONCE)
        self.assertLessEqual(len({port for _, ports in given for port in ports}), 6 * AT_ONCE)

    def settled(self):
        """When nothing of the last cycles is under way any more."""
        last = {}

        def is_still():
            nonlocal last
            last, previous = self.counters(), last
            return last == previous and "operations" not in last["records"]
        self.assertTrue(self.daemon.eventually(is_still))
        return last


if __name__ == "__main__":
    harness.cases.main()

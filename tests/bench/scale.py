#!/usr/bin/env python3
"""What many stored instances cost: a daemon of its own with the simulated runtime grows to 100,000 of them.

usage: scale.py [SIZE ...]     (1000 10000 30000 100000; the first is what the others are compared with)

At each size: the cost of a launch and of a deletion (the daemon's CPU time, which tells more than the clock on a machine
that others use, too), lists, single reads, memory, and the time from start to ready.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import burst
import harness
import results

COMMAND = "tests/bench/scale.py"
SAMPLE = 1000
WARM_UP = 2000
KEPT_OPERATIONS = 1000
LAUNCH = {"image_id": "plain", "instance_type": "a2.3", "memory": 32 << 20, "disk_size": 64 << 20, "cpu": 1}
GROWTH = 1.25
CLIENTS = 8


class Cluster:
    def __init__(self):
        self.daemon = harness.Daemon("simulated", simulated_cpus=1_000_000, simulated_memory="1000TB").start()
        with tempfile.TemporaryDirectory() as folder:
            self.daemon.add_image("plain", harness.changed_image(folder, lambda rootfs: None))
        self.ids, self.random = [], random.Random(1)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])

    def timed(self, requests):
        """The operations' records, microseconds of CPU and operations a second."""
        count = len(requests)
        cpu, begin = self.cpu_seconds(), time.monotonic()
        records = burst.send_all(self.daemon.socket, requests)
        return records, (self.cpu_seconds() - cpu) / count * 1e6, count / (time.monotonic() - begin)

    def launch(self, count):
        body = burst.request("POST", "/1.0/containers", LAUNCH)
        records, cpu, rate = self.timed([body] * count)
        self.ids += [record["resources"]["containers"][0].rsplit("/", 1)[1] for record in records]
        return cpu, rate

    def delete(self, count):
        self.random.shuffle(self.ids)
        gone, self.ids = self.ids[:count], self.ids[count:]
        _, cpu, rate = self.timed([burst.request("DELETE", f"/1.0/containers/{id}", {"force": True}) for id in gone])
        return cpu, rate

    def settle(self):
        """Until no more finished operations are kept than always."""
        self.daemon.eventually(lambda: self.operations() <= KEPT_OPERATIONS or time.sleep(0.5), limit=30)

    def operations(self):
        return sum(map(len, self.daemon.api("GET", "/1.0/operations").metadata.values()))

    def warm_up(self):
        """Fills what is bounded: the window of events, finished operations, pools and caches."""
        self.launch(WARM_UP)
        self.delete(WARM_UP)
        self.settle()
        live = self.resident_kib()
        self.daemon.restart()
        self.settle()
        return {"live": live, "stored": self.resident_kib()}

    def list_cost(self, size):
        """Microseconds of CPU a record, and milliseconds of the whole."""
        rounds = max(3, 50_000 // size)
        cpu, begin = self.cpu_seconds(), time.monotonic()
        for _ in range(rounds):
            self.daemon.api("GET", "/1.0/containers?recursion=1")
        return (self.cpu_seconds() - cpu) / rounds / size * 1e6, (time.monotonic() - begin) / rounds * 1000

    def most_resident_kib(self, work):
        """What is resident at most while `work` is done."""
        process = pathlib.Path(f"/proc/{self.daemon.process.pid}")
        (process / "clear_refs").write_text("5")  # the peak begins anew
        work()
        return int(next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmHWM")).split()[1])

    def list_memory(self):
        """MiB of resident memory that lists take which several clients ask for at once: at most, and afterwards."""
        def lists():
            with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
                for reply in pool.map(lambda _: self.daemon.api("GET", "/1.0/containers?recursion=1"), range(CLIENTS)):
                    assert reply.status == 200 and reply.raw.endswith(b"}\n")
        before = self.resident_kib()
        most = self.most_resident_kib(lists)
        return (most - before) / 1024, (self.resident_kib() - before) / 1024

    def close(self):
        self.daemon.kill()
        shutil.rmtree(self.daemon.dir)


def milliseconds(work):
    begin = time.monotonic()
    work()
    return (time.monotonic() - begin) * 1000


def median_of(work, rounds=5):
    return statistics.median(milliseconds(work) for _ in range(rounds))


def single_gets(cluster, count=5000):
    """The 99th percentile of reading one instance over one connection, in milliseconds."""
    connection = harness.UnixConnection(cluster.daemon.socket)
    connection.connect()
    times = []
    for id in cluster.random.choices(cluster.ids, k=count):
        begin = time.monotonic()
        connection.sock.sendall(burst.request("GET", f"/1.0/containers/{id}"))
        received = connection.sock.recv(65536)
        times.append((time.monotonic() - begin) * 1000)
        assert received.startswith(b"HTTP/1.1 200"), received
    connection.close()
    return sorted(times)[int(count * 0.99)]


def known_list(cluster):
    """Milliseconds of asking for a list that has not changed."""
    path = "/1.0/containers?recursion=1"
    tag = cluster.daemon.api("GET", path).headers["ETag"]
    def ask():
        assert cluster.daemon.api("GET", path, headers={"If-None-Match": tag}).status == 304
    return median_of(ask)


def read_by_sqlite(cluster):
    """Reading the same rows, without doing anything with them."""
    database = next(cluster.daemon.state.glob("*.db"))
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute("SELECT key, value, revision FROM entries").fetchall()
    connection.close()
    return rows


def measure(cluster, size):
    cluster.launch(size - len(cluster.ids))
    cluster.settle()  # what is still to be forgotten is not to be counted below
    figures = {"size": size}
    figures["delete"] = cluster.delete(min(SAMPLE, size))
    cluster.settle()
    figures["launch"] = cluster.launch(size - len(cluster.ids))
    cluster.settle()
    figures["live"] = cluster.resident_kib()
    one = cluster.ids[size // 2]
    get = lambda path: cluster.daemon.api("GET", path)
    figures["list"] = cluster.list_cost(size)
    figures["list_memory"] = cluster.list_memory()
    figures["known"] = known_list(cluster)
    figures["filter"] = median_of(lambda: get(f"/1.0/containers?recursion=1&name=svc-{one}"))
    figures["page"] = median_of(lambda: get(f"/1.0/containers?recursion=1&offset={size // 2}&limit=100"))
    figures["get"] = single_gets(cluster)
    cluster.daemon.kill()
    figures["start"] = milliseconds(cluster.daemon.start)
    figures["start_cpu"] = cluster.cpu_seconds() * 1000
    cluster.settle()
    figures["stored"] = cluster.resident_kib()
    figures["sqlite"] = median_of(lambda: read_by_sqlite(cluster), 3)
    return figures


def report(figure, ours, baseline=None, **more):
    results.report(figure, ours, baseline, command=COMMAND, **more)


def report_growth(figures, base, key, what):
    """The CPU time of one operation, against that with few instances stored."""
    size, ours, theirs = figures["size"], figures[key][0], base[key][0]
    print(f"{what} at {size:,}: {figures[key][1]:,.0f} a second, {ours:.0f} us of CPU each", flush=True)
    report(f"{what} with {size:,} stored: CPU each ({figures[key][1]:,.0f} /s)", ours, theirs, unit="us",
           peer=f"with {base['size']:,} stored", mark=f"at most {GROWTH} x", met=ours <= GROWTH * theirs)


def report_size(figures, base, idle):
    size, listed, least = figures["size"], figures["list"], base["list"]
    for key, what in (("launch", "launch"), ("delete", "delete")):
        report_growth(figures, base, key, what)
    report(f"list of {size:,}, recursion=1: CPU a record ({listed[1]:.0f} ms in all)", listed[0], least[0], unit="us",
           peer=f"of {base['size']:,}", mark=f"at most {GROWTH} x", met=listed[0] <= GROWTH * least[0])
    most, left = figures["list_memory"]
    report(f"lists of {size:,} to {CLIENTS} clients at once: resident memory at most ({left:.1f} MiB afterwards)", most, unit="MiB",
           mark="40 MiB", met=most <= 40)
    report(f"list of {size:,} that the client has already (304)", figures["known"], unit="ms")
    report(f"list of one by name among {size:,}", figures["filter"], unit="ms")
    report(f"list of a page of 100 among {size:,}", figures["page"], unit="ms")
    report(f"GET of one among {size:,}, 99th percentile", figures["get"], base["get"], unit="ms", peer=f"among {base['size']:,}",
           mark="1 ms", met=figures["get"] <= 1)
    report(f"start to ready with {size:,} stored ({figures['start_cpu']:.0f} ms of CPU)", figures["start"], figures["sqlite"], unit="ms",
           peer="reading the rows alone, by SQLite", mark="100 ms and 30 us a record", met=figures["start"] <= 100 + 0.03 * size)
    if size < 10_000:
        return  # what idles weighs more than the records
    for key, what in (("live", "since launched"), ("stored", "after a restart")):
        each = (figures[key] - idle[key]) / size
        report(f"resident memory a record, {size:,} {what}", each, unit="KiB", mark="2 KiB beyond idle", met=each <= 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[1000, 10_000, 30_000, 100_000])
    options = parser.parse_args()
    cluster, base = Cluster(), None
    try:
        fresh, idle = cluster.resident_kib(), cluster.warm_up()
        print(f"idle: {fresh / 1024:.1f} MiB resident when new, {idle['live'] / 1024:.1f} MiB after {WARM_UP:,} came and went, "
              f"{idle['stored'] / 1024:.1f} MiB after a restart then", flush=True)
        for size in options.sizes:
            figures = measure(cluster, size)
            base = base or figures
            report_size(figures, base, idle)
    finally:
        cluster.close()


if __name__ == "__main__":
    main()

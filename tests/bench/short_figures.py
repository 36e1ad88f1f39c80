"""The short forms of the figures of docs/performance.md, each a second or less: what one build gives at this moment. Less is better.

`simulated` figures need no root; `containers` do. A figure that grows old in its state (a store, memory) is taken from daemons
that both builds have had for equally long.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import api
import burst
from clients import Api, harness
from peers import Svcd

STORED = 500
AT_ONCE = 8
MEBIBYTES = 32
HOOKS = {"hooks/install": "#!/bin/sh\ntrue\n"}


def milliseconds(work, *arguments):
    begin = time.monotonic()
    work(*arguments)
    return (time.monotonic() - begin) * 1000


class Simulated:
    """svcd with simulated containers, some of them launched."""

    def __init__(self, build):
        self.programs = build
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-bench-", dir="/var/tmp"))
        self.certificate = api.Certificate(self.folder)
        self.daemon = harness.Daemon("simulated", simulated_cpus=1_000_000, simulated_memory="1000TB")
        self.daemon.program = build / "server/svcd"
        self.daemon.start()
        self.daemon.api("POST", "/1.0/certificates", {"certificate": self.certificate.file.read_text()})
        with tempfile.TemporaryDirectory() as folder:
            self.daemon.add_image("plain", harness.changed_image(folder, lambda rootfs: None))
        self.ids = self.launched(STORED)

    def launched(self, count):
        records = burst.send_all(self.daemon.socket, [burst.request("POST", "/1.0/containers", api.LAUNCH)] * count)
        return [record["resources"]["containers"][0].rsplit("/", 1)[1] for record in records]

    def cpu_ms(self):
        fields = pathlib.Path(f"/proc/{self.daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1000

    def launch(self):
        """Processor time; what was launched goes again, untimed."""
        before = self.cpu_ms()
        ids = self.launched(STORED)
        taken = self.cpu_ms() - before
        self.removed(ids)
        return taken / STORED

    def removed(self, ids):
        burst.send_all(self.daemon.socket, [burst.request("DELETE", f"/1.0/containers/{id}", {"force": True}) for id in ids])

    def delete(self):
        ids = self.launched(STORED)
        before = self.cpu_ms()
        self.removed(ids)
        return (self.cpu_ms() - before) / STORED

    def load(self, transport, path, connections):
        https = next(address for address in self.daemon.addresses if address.startswith("https://"))
        target = https if transport == "TLS" else f"unix:{self.daemon.socket}"
        measured = api.svc_bench("http", "--target", target, "--path", path, "--connections", connections, "--seconds", 1,
                                 "--rounds", 1, *self.certificate.arguments())[0]["ours"]
        assert measured["failures"] == 0, measured
        return 1e6 / measured["per_second"]

    def one(self):
        return f"/1.0/containers/{self.ids[0]}"

    def restart(self):
        self.daemon.kill()
        return milliseconds(self.daemon.start)

    def resident(self):
        self.restart()
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def commit(self):
        """The store of this build, by its own driver."""
        folder = self.folder / "commits"
        folder.mkdir()
        try:
            output = subprocess.run([self.programs / "tests/bench/svc-bench", "commits", "--directory", folder, "--threads", "8",
                                     "--rounds", "1", "--milliseconds", "200"], check=True, capture_output=True, text=True).stdout
        finally:
            shutil.rmtree(folder)
        return 1e6 / json.loads(output)["commits_per_second"]

    def close(self):
        self.daemon.kill()
        shutil.rmtree(self.daemon.dir, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Containers(Svcd):
    """svcd with real containers of the demo image, one of them running."""

    def __init__(self, build):
        super().__init__(build=build)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-bench-", dir="/var/tmp"))
        self.package = self.folder / "package.tar.gz"
        subprocess.run([harness.ROOT / "tests/images/busybox.sh", self.package, str(MEBIBYTES)], check=True)
        self.daemon.add_image("large", self.package)
        self.running = self.start()

    def launch(self):
        begin = time.monotonic()
        id = self.start()
        taken = (time.monotonic() - begin) * 1000
        self.remove(id)
        return taken

    def delete(self):
        return milliseconds(self.remove, self.start())

    def launch_many(self):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            begin = time.monotonic()
            ids = list(pool.map(lambda _: self.start(), range(AT_ONCE)))
            taken = (time.monotonic() - begin) * 1000 / AT_ONCE
            list(pool.map(self.remove, ids))
        return taken

    def execute(self, *command):
        subprocess.run([self.build / "cli/svcctl", "--socket", self.daemon.socket, "exec", self.running, "--", *command], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def exec_true(self):
        return statistics.median(milliseconds(self.execute, "true") for _ in range(3))

    def exec_output(self):
        return milliseconds(self.execute, "dd", "if=/dev/zero", "bs=64k", "count=1024")

    def import_image(self):
        begin = time.monotonic()
        self.daemon.add_image("again", self.package)
        taken = (time.monotonic() - begin) * 1000
        self.daemon.remove("/1.0/images/again")
        return taken

    def with_application(self, measure, image):
        """What `measure` gives of a new application; the same manifest each time, of a name that was not there before."""
        manifest = f"name: app\nimage: {image}\ninstance-type: a2.3\n"
        begin = time.monotonic()
        id = self.daemon.create_app({"manifest.yaml": manifest, **HOOKS})
        try:
            return measure(id, (time.monotonic() - begin) * 1000)
        finally:
            self.daemon.remove(f"/1.0/applications/{id}")

    def bootstrap(self):
        return self.with_application(lambda id, taken: taken, "plain")

    def export(self):
        """The first one of a version."""
        command = ["curl", "-sSf", "--unix-socket", self.daemon.socket, "-o", "/dev/null"]
        return self.with_application(lambda id, _: milliseconds(
            lambda: subprocess.run([*command, f"http://svc/1.0/applications/{id}/0"], check=True)), "large")

    def restart(self):
        self.daemon.kill()
        return milliseconds(self.daemon.start)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        super().close()


# The name, the unit, and what gives one value.
SIMULATED = [
    ("Launch, simulated: processor time", "ms", Simulated.launch),
    ("Delete, simulated: processor time", "ms", Simulated.delete),
    ("GET /1.0, Unix, 64 connections", "us", lambda side: side.load("Unix", "/1.0", 64)),
    ("GET /1.0, TLS, 64 connections", "us", lambda side: side.load("TLS", "/1.0", 64)),
    ("GET of one instance, Unix, 64 connections", "us", lambda side: side.load("Unix", side.one(), 64)),
    (f"List of {STORED}, recursion=1, Unix", "us", lambda side: side.load("Unix", "/1.0/containers?recursion=1", 1)),
    ("Durable commit of the store, 8 threads", "us", Simulated.commit),
    (f"Start to ready with {STORED} stored", "ms", Simulated.restart),
    (f"Resident memory after a start with {STORED} stored", "MiB", Simulated.resident),
]
CONTAINERS = [
    ("Launch", "ms", Containers.launch),
    ("Delete", "ms", Containers.delete),
    (f"Launch, {AT_ONCE} at a time, each", "ms", Containers.launch_many),
    ("svcctl exec of true", "ms", Containers.exec_true),
    ("svcctl exec, 64 MiB of output", "ms", Containers.exec_output),
    (f"Import of an image of {MEBIBYTES} MiB", "ms", Containers.import_image),
    ("Bootstrap of an application", "ms", Containers.bootstrap),
    (f"Export of an application of {MEBIBYTES} MiB, the first time", "ms", Containers.export),
    ("Start to ready with a running container", "ms", Containers.restart),
]
GROUPS = [(Simulated, SIMULATED), (Containers, CONTAINERS)]

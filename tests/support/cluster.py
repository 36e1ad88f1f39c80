"""Several svcd on one etcd, on this machine alone and without root: for tests that need no machines. Those that do: machines.py."""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness  # noqa: E402

ETCD, ETCDCTL = shutil.which("etcd"), shutil.which("etcdctl")
PATIENCE = harness.PATIENCE
LEADER_KEY = "/svc/manager"


def available():
    return bool(ETCD and ETCDCTL)


def until(what, condition, limit=PATIENCE):
    """The condition's value, once it is true."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit} s: {what}")
        time.sleep(0.02)


class Etcd:
    """Its members on loopback, on ports that nobody has."""

    def __init__(self, members=1):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="svc-etcd-", dir="/dev/shm"))
        self.members = [f"http://127.0.0.1:{harness.free_port()}" for _ in range(members)]
        self.peers = [f"http://127.0.0.1:{harness.free_port()}" for _ in range(members)]
        self.processes = [None] * members

    @property
    def endpoints(self):
        return ",".join(self.members)

    def flags(self):
        """Of a manager that uses it."""
        return ["--etcd-endpoints", self.endpoints]

    def start_member(self, number):
        name, peer, client = f"e{number}", self.peers[number], self.members[number]
        with open(self.dir / f"{name}.log", "ab") as log:
            self.processes[number] = subprocess.Popen(
                [ETCD, "--name", name, "--data-dir", self.dir / name, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--listen-client-urls", client, "--advertise-client-urls", client, "--initial-cluster-state", "new",
                 "--initial-cluster", ",".join(f"e{i}={url}" for i, url in enumerate(self.peers)),
                 "--max-txn-ops", "1024", "--logger", "zap", "--log-level", "warn"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def start(self):
        for number, process in enumerate(self.processes):
            if process is None:
                self.start_member(number)
        until("etcd answers", lambda: self.control("endpoint", "health").returncode == 0)
        return self

    def kill(self, number, how=signal.SIGKILL):
        process, self.processes[number] = self.processes[number], None
        if process:
            process.send_signal(signal.SIGCONT)
            process.send_signal(how)
            process.wait(timeout=PATIENCE)

    def control(self, *arguments):
        return subprocess.run([ETCDCTL, "--endpoints", self.endpoints, *arguments], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ETCDCTL_API": "3"})

    def values(self, prefix):
        """{key: value} of what begins with it."""
        answer = self.control("get", "--prefix", prefix, "--write-out", "json")
        assert answer.returncode == 0, answer.stderr
        decoded = lambda text: base64.b64decode(text).decode()  # noqa: E731
        return {decoded(kv["key"]): decoded(kv.get("value", "")) for kv in json.loads(answer.stdout).get("kvs", [])}

    def close(self):
        for number in range(len(self.processes)):
            self.kill(number)
        shutil.rmtree(self.dir, ignore_errors=True)


class Manager(harness.Daemon):
    """One svcd of a cluster. Its state outlives it: start() and kill() may alternate."""

    disks = "/dev/shm"

    def __init__(self, name, etcd, runtime="simulated", **settings):
        super().__init__(runtime, self.disks, **settings)
        self.name, self.etcd, self.environment = name, etcd, {}
        self.peer_address = f"127.0.0.1:{harness.free_port()}"

    def command(self):
        return ["env", *(f"{name}={value}" for name, value in self.environment.items()), *super().command(), "--store", "etcd",
                *self.etcd.flags(), "--manager-name", self.name, "--manager-listen", self.peer_address]

    def start(self):
        """Bounded: a manager that neither becomes ready nor ends is killed, and its log is in the error."""
        self.addresses = []
        begun = threading.Timer(PATIENCE, lambda: self.process and self.signal(signal.SIGKILL))
        begun.start()
        try:
            return super().start()
        finally:
            begun.cancel()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def close(self):
        """What it has stored stays in etcd, which goes as a whole."""
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


class Cluster:
    """`with Cluster() as cluster`: managers m1, m2, ... that are ready, one of which leads. All of it is gone at the end."""

    def __init__(self, size=3, etcd_members=1, **settings):
        self.etcd = Etcd(etcd_members)
        self.managers = [Manager(f"m{i + 1}", self.etcd, **settings) for i in range(size)]

    def __enter__(self):
        try:
            self.etcd.start()
            for manager in self.managers:
                manager.start()
            self.leader()
            return self
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        for manager in self.managers:
            manager.close()
        self.etcd.close()

    def leading(self):
        """The manager that holds the lead now; None: none, or one that is dead."""
        holder = self.etcd.values(LEADER_KEY).get(LEADER_KEY)
        name = json.loads(holder).get("host") if holder else None
        return next((m for m in self.managers if m.name == name and m.running()), None)

    def leader(self):
        return until("a manager leads", self.leading)

    def followers(self):
        leader = self.leader()
        return [manager for manager in self.managers if manager is not leader]

    def living(self):
        return [manager for manager in self.managers if manager.running()]

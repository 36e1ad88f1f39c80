"""A LXD daemon of its own in a scratch directory, as a peer to measure against. Nothing of it is left after close()."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness


def free_port():
    """LXD does not tell the port it was given when it is asked for any."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lxd:
    """start() makes a pool "bench" of the dir driver; `address` is the TLS listener."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="svc-lxd-", dir="/var/tmp"))
        os.chmod(self.dir, 0o711)
        self.socket = self.dir / "unix.socket"
        self.environment = {**os.environ, "LXD_DIR": str(self.dir)}
        self.process = None

    @staticmethod
    def present():
        return os.geteuid() == 0 and shutil.which("lxd") is not None

    def start(self):
        self.log = open(self.dir / "daemon.log", "ab")
        self.process = subprocess.Popen(["lxd"], env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, start_new_session=True)
        subprocess.run(["lxd", "waitready", "--timeout=60"], env=self.environment, check=True, stdout=self.log, stderr=self.log)
        self.address = f"127.0.0.1:{free_port()}"
        self.succeed("PATCH", "/1.0", {"config": {"core.https_address": self.address}})
        self.succeed("POST", "/1.0/storage-pools", {"name": "bench", "driver": "dir"})
        return self

    @property
    def pid(self):
        return self.process.pid

    def api(self, method, path, body=None):
        connection = harness.UnixConnection(self.socket)
        connection.request(method, path, body=None if body is None else json.dumps(body))
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        if answer["type"] == "error":
            raise RuntimeError(f"{method} {path}: {answer['error']}")
        return answer["metadata"] if answer["type"] == "sync" else answer

    def succeed(self, method, path, body=None):
        """Waits for the operation, should it be one."""
        answer = self.api(method, path, body)
        if isinstance(answer, dict) and answer.get("type") == "async":
            record = self.api("GET", f"{answer['operation']}/wait?timeout=120")
            if record["status_code"] != 200:
                raise RuntimeError(f"{method} {path}: {record['err']}")
            return record
        return answer

    def trust(self, certificate):
        text = pathlib.Path(certificate).read_text()
        body = "".join(line for line in text.splitlines() if not line.startswith("-----"))
        self.succeed("POST", "/1.0/certificates", {"type": "client", "name": "bench", "certificate": body})

    def add_empty(self, name):
        """An instance without a root file system: a record, as a stopped one is."""
        self.succeed("POST", "/1.0/instances", {
            "name": name, "type": "container", "source": {"type": "none"},
            "devices": {"root": {"type": "disk", "path": "/", "pool": "bench"}}})

    def close(self):
        if self.process:
            subprocess.run(["lxd", "shutdown", "--timeout=60"], env=self.environment, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.kill(self.process.pid, signal.SIGKILL)
                self.process.wait()
            self.log.close()
        for mount in sorted((m for m in harness.mounts() if m.startswith(f"{self.dir}/")), reverse=True):
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

"""LXD and podman, each with everything in a scratch directory. LookupError says why one does not run here."""
import itertools
import os
import random
import shutil
import subprocess
import tempfile

import lxd_peer
from clients import Api, harness
from peers import MEMORY, PROCESSES, QUIET, plain_image, run, scratch


def tables():
    return set(subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout.splitlines())


def forget_tables(before):
    """Packet filter tables that a peer has made and leaves behind."""
    for table in tables() - before:
        if table.split()[2] in ("lxd", "nat", "filter", "mangle", "raw"):
            subprocess.run(["nft", "delete", *table.split()], **QUIET)


class Lxd:
    """Its `dir` pool, a managed bridge, the same limits; no user namespace of its own making but the default one."""
    name, entered_by = "LXD", "lxc exec of LXD"

    def __init__(self):
        if not lxd_peer.Lxd.present():
            raise LookupError("lxd is not installed, or not for us")
        self.tables, self.numbers, self.bridge = tables(), itertools.count(), f"svclxd{random.randrange(1000)}"
        self.daemon = lxd_peer.Lxd()
        try:
            self.daemon.start()
            self.prepare()
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.close()
            raise LookupError(f"lxd does not run here: {error}")

    def prepare(self):
        self.api = Api(self.daemon.socket)
        subnet = f"10.{random.randrange(16, 250)}.{random.randrange(1, 250)}.1/24"
        self.api.call("POST", "/1.0/networks", {"name": self.bridge, "config": {
            "ipv4.address": subnet, "ipv4.nat": "false", "ipv6.address": "none"}})
        with tempfile.TemporaryDirectory() as folder:
            run("lxc", "image", "import", plain_image(folder), "--alias", "plain", env={**self.daemon.environment, "HOME": folder})
        self.remove(self.start())  # what is done once for an image is done then

    def start(self):
        name = f"bench{next(self.numbers)}"
        devices = {"root": {"type": "disk", "path": "/", "pool": "bench"},
                   "eth0": {"type": "nic", "network": self.bridge, "name": "eth0"}}
        self.api.call("POST", "/1.0/instances", {
            "name": name, "source": {"type": "image", "alias": "plain"}, "profiles": [], "devices": devices,
            "config": {"limits.memory": f"{MEMORY}", "limits.cpu.allowance": "100ms/100ms", "limits.processes": f"{PROCESSES}"}})
        self.api.call("PUT", f"/1.0/instances/{name}/state", {"action": "start", "timeout": -1})
        return name

    def enter(self, name):
        """As BareLxc.enter()."""
        return ["lxc", "exec", name, "--"], {**self.daemon.environment, "HOME": str(self.daemon.dir)}

    def remove(self, name):
        self.api.call("PUT", f"/1.0/instances/{name}/state", {"action": "stop", "force": True, "timeout": -1})
        self.api.call("DELETE", f"/1.0/instances/{name}")

    def close(self):
        try:
            self.api.call("DELETE", f"/1.0/networks/{self.bridge}")
        except (AttributeError, RuntimeError) as error:
            print(f"LXD: {error}")
        self.daemon.close()
        forget_tables(self.tables)


class Podman:
    """Rootful podman with runc: the same tree under an overlay, a bridge of its own, no user namespace."""
    name = "podman with runc"

    def __init__(self):
        missing = [tool for tool in ("podman", "runc", "conmon") if not shutil.which(tool)]
        if missing:
            raise LookupError(f"{', '.join(missing)} not installed")
        self.dir, self.numbers, self.tables = scratch(), itertools.count(), tables()
        with tempfile.TemporaryDirectory() as folder:
            run("tar", "-C", self.dir, "-xf", plain_image(folder), "rootfs")
        self.command = ["podman", "--root", self.dir / "root", "--runroot", self.dir / "run", "--cgroup-manager", "cgroupfs",
                        "--runtime", "runc", "--events-backend", "none", "--network-config-dir", self.dir / "net"]
        try:
            subnet = f"10.{random.randrange(16, 250)}.{random.randrange(1, 250)}.0/24"
            run(*self.command, "network", "create", "--disable-dns", "--subnet", subnet, "bench")
            self.remove(self.start())
        except RuntimeError as error:
            self.close()
            raise LookupError(f"podman does not run here: {error}")

    def start(self):
        name = f"bench{next(self.numbers)}"
        limits = ["--memory", MEMORY, "--cpus", 1, "--pids-limit", PROCESSES, "--ulimit", "nofile=1024:4096", "--ulimit",
                  "nproc=4096:4096"]
        run(*self.command, "run", "-d", "--name", name, "--network", "bench", *limits, "--rootfs", f"{self.dir / 'rootfs'}:O",
            "/sbin/init")
        return name

    def remove(self, name):
        run(*self.command, "rm", "-f", "-t", 0, name)

    def close(self):
        for last in (["rm", "-f", "-a", "-t", "0"], ["network", "rm", "-f", "bench"]):
            subprocess.run([str(word) for word in [*self.command, *last]], **QUIET)
        forget_tables(self.tables)
        for mount in sorted((m for m in harness.mounts() if m.startswith(str(self.dir))), reverse=True):
            subprocess.run(["umount", mount], **QUIET)
        subprocess.run("find /sys/fs/cgroup -depth -path '*/libpod_parent*' -type d -exec rmdir {} +", shell=True, **QUIET)
        shutil.rmtree(self.dir, ignore_errors=True)

"""Several svcd on machines of their own (rig/): each with a network, control groups and mounts, an etcd and maybe an LXD. Needs root."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cluster  # noqa: E402
from cluster import harness  # noqa: E402

RIG = pathlib.Path(__file__).resolve().parent / "rig/rig"


def missing(lxd=False):
    """Why machines cannot be made here; None: they can."""
    if os.geteuid() != 0:
        return "needs root"
    wanted = ["etcd", "etcdctl", "openssl", "nsenter", *(["lxd", "lxc"] if lxd else [])]
    return next((f"needs {program}" for program in wanted if not shutil.which(program)), None)


class Rig:
    """The machines. Numbers begin with 1."""

    def __init__(self, size=3, etcd=None, lxd=False, **more):
        self.name = f"r{os.getpid() % 100000:05}{random.randrange(100):02}"
        self.net = harness.free_net().rsplit(".", 1)[0]
        self.size = size
        self.environment = {"RIG_NAME": self.name, "RIG_NET": self.net, "RIG_SIZE": str(size), "RIG_ETCD": str(size if etcd is None else etcd),
                            "RIG_LXD": str(int(lxd)), **{f"RIG_{key.upper()}": str(value) for key, value in more.items()}}
        self.dir = pathlib.Path("/var/tmp") / self.name

    def command(self, *words, **options):
        """What the rig's command printed."""
        done = subprocess.run([RIG, *map(str, words)], env={**os.environ, **self.environment}, capture_output=True, text=True,
                              timeout=cluster.PATIENCE, **options)
        assert done.returncode == 0, f"rig {words}: {done.stderr}"
        return done.stdout

    def up(self):
        self.command("up", self.dir)
        self.cluster = json.loads((self.dir / "cluster.json").read_text())
        return self

    def down(self):
        self.command("down")
        return [f"group {path}" for path in pathlib.Path("/sys/fs/cgroup").glob(f"*/{self.name}*")] + \
            [f"device {name}" for name in os.listdir("/sys/class/net") if name.startswith(self.name)] + \
            [f"mount {mount}" for mount in harness.mounts() if str(self.dir) in mount]

    def popen(self, number, *command, **options):
        """A command in a machine; it ends with the machine."""
        return subprocess.Popen([RIG, "exec", str(number), *map(str, command)], env={**os.environ, **self.environment}, **options)

    def flags(self):
        """Of a manager that uses the machines' etcd."""
        urls = ",".join(m["etcd_url"] for m in self.cluster["machines"] if "etcd_url" in m)
        security = self.cluster["etcd"]
        return ["--etcd-endpoints", urls, "--etcd-ca", security["ca"], "--etcd-cert", security["client_certificate"],
                "--etcd-key", security["client_key"]]


class MachineManager(cluster.Manager):
    """The svcd of a machine. Its state lies with the machine's disk; its socket is reached from outside of the machine as well."""
    disks = "/var/tmp"

    def __init__(self, rig, number, runtime="lxc", **settings):
        self.machine = rig.cluster["machines"][number - 1]
        if runtime == "lxd":
            settings["lxd"] = "unix:" + self.machine["lxd_socket"]
        super().__init__(f"m{number}", rig, runtime, **settings)
        self.rig, self.number, self.address = rig, number, self.machine["address"]
        self.bridge, self.subnet = "svcbr0", None  # the machine takes its part of the cluster's network
        self.peer_address = f"{self.address}:8445"

    def command(self):
        command = super().command()
        command[command.index("--listen") + 1] = f"{self.address}:8444"
        return ["env", *(f"{name}={value}" for name, value in self.rig.environment.items()), RIG, "exec", str(self.number), *map(str, command)]

    def signal(self, number):
        """To svcd itself: what has started it in the machine passes no signals on, and ends with it."""
        for pid in descendants(self.process.pid):
            if program_of(pid) == str(self.program):
                os.kill(pid, number)


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def descendants(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [found for child in map(int, children) for found in (child, *descendants(child))]


class MachineCluster:
    """`with MachineCluster() as machines`: machines with a manager on each. All of it is gone at the end."""

    def __init__(self, size=3, runtime="lxc", etcd=None, **settings):
        self.rig = Rig(size, etcd, lxd=runtime == "lxd")
        self.size, self.runtime, self.settings, self.managers = size, runtime, settings, []

    def __enter__(self):
        try:
            self.rig.up()
            self.managers = [MachineManager(self.rig, i + 1, self.runtime, **self.settings) for i in range(self.size)]
            for manager in self.managers:
                manager.start()
            return self
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        left = self.close()
        assert not left, left

    def close(self):
        for manager in self.managers:
            manager.close()
        return self.rig.down()

    def leading(self):
        """The manager that leads, as a living one says; None: none does, or one that is dead."""
        for manager in filter(lambda m: m.running(), self.managers):
            leaders = [n["name"] for n in manager.api("GET", "/1.0/nodes?recursion=1").metadata if n["is_master"]]
            return next((m for m in self.managers if [m.name] == leaders and m.running()), None)

    def leader(self):
        return cluster.until("a manager leads", self.leading)

    def followers(self):
        leader = self.leader()
        return [m for m in self.managers if m is not leader]

    def power_off(self, number):
        """The machine, with everything that runs on it."""
        self.rig.command("kill", number, "all")
        self.managers[number - 1].kill()

    def power_on(self, number):
        self.rig.command("start", number, "all")
        self.managers[number - 1].start()

"""What launches the same small image on machines of namespaces (tests/support/rig): three managers on etcd, or one with SQLite. Each has
start(), which returns what remove() takes, and processor_seconds() of all its machines, with everything that runs on them."""
import itertools
import pathlib
import sys
import tempfile

import clients
from peers import MEMORY, plain_image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import machines  # noqa: E402
from cluster import harness, until  # noqa: E402

ROOM = {"cpu_allocation_rate": 100, "memory_allocation_rate": 100}
ACCOUNTS = pathlib.Path("/sys/fs/cgroup/cpuacct")


class Alone(machines.MachineManager):
    """The svcd of the only machine."""

    def command(self):
        command = harness.Daemon.command(self)
        return ["env", *(f"{name}={value}" for name, value in self.rig.environment.items()), machines.RIG, "exec", "1", *map(str, command)]


class Peer:
    def __init__(self, rig, managers):
        self.rig, self.managers = rig, managers
        with tempfile.TemporaryDirectory() as folder:
            managers[0].add_image("plain", plain_image(folder))
        self.turns = itertools.cycle([clients.Api(manager.socket) for manager in managers])

    def start(self, **fields):
        body = {"image_id": "plain", "instance_type": "a2.3", "memory": MEMORY, "cpu": 1, "disk_size": 64 << 20, **fields}
        return next(self.turns).call("POST", "/1.0/containers", body)["resources"]["containers"][0].rsplit("/", 1)[1]

    def remove(self, id):
        next(self.turns).call("DELETE", f"/1.0/containers/{id}", {"force": True})

    def processor_seconds(self, program=None):
        """Of all machines, or of the living processes of one program on them."""
        if program is None:
            return sum(seconds_of_group(self.rig.name + str(i + 1)) for i in range(self.rig.size))
        return sum(seconds_of_process(pid) for pid in self.processes(program))

    def processes(self, program):
        """Those in the machines' own groups; what runs in instances is below these."""
        for number in range(1, self.rig.size + 1):
            group = group_of(self.rig.name + str(number))
            for pid in (group / "cgroup.procs").read_text().split():
                if comm_of(pid) == program:
                    yield pid


class ThreeMachines(Peer):
    name = "three machines"

    def __init__(self, runtime="lxc"):
        self.cluster = machines.MachineCluster(3, runtime, **ROOM)
        self.cluster.__enter__()
        try:
            until("all nodes are online", self.all_online)
            super().__init__(self.cluster.rig, self.cluster.managers)
            self.spread()
        except BaseException:
            self.close()
            raise

    def all_online(self):
        nodes = self.cluster.managers[0].api("GET", "/1.0/nodes?recursion=1").metadata or []
        return len(nodes) == 3 and all(node["status"] == "online" for node in nodes)

    def spread(self):
        """The image comes to each machine before anything is measured."""
        for id in [self.start(node=manager.name) for manager in self.managers]:
            self.remove(id)

    def close(self):
        left = self.cluster.close()
        assert not left, left


class OneMachine(Peer):
    name = "one machine with SQLite"

    def __init__(self):
        self.machine = machines.Rig(1, etcd=0).up()
        self.alone = Alone(self.machine, 1, "lxc", **ROOM)
        try:
            self.alone.start()
            super().__init__(self.machine, [self.alone])
            self.remove(self.start())
        except BaseException:
            self.close()
            raise

    def close(self):
        self.alone.close()
        left = self.machine.down()
        assert not left, left


def group_of(name):
    return ACCOUNTS / name if ACCOUNTS.exists() else pathlib.Path("/sys/fs/cgroup") / name


def seconds_of_group(name):
    group = group_of(name)
    if (group / "cpuacct.usage").exists():
        return int((group / "cpuacct.usage").read_text()) / 1e9
    return int((group / "cpu.stat").read_text().split()[1]) / 1e6  # usage_usec comes first


def comm_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def seconds_of_process(pid):
    """Its own time and that of the children it has waited for."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / 100

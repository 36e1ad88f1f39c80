"""What the cases on three machines share: the cluster, launches, and what really runs there whatever the records say."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402, F401, others take it from here
import machines  # noqa: E402
from cluster import harness, until  # noqa: E402, F401, likewise

LONG = bool(os.environ.get("SVC_TEST_LONG"))
SMALL = {"cpu": 1, "memory": 64 << 20, "disk_size": 64 << 20}
WEB = {"name": "web", "port": 80, "protocols": ["tcp"]}
ID = re.compile(r"[/-]([0-9a-v]{20})(?![0-9a-v])")
Init = collections.namedtuple("Init", "machine id pid")


class OnMachines(unittest.TestCase):
    """One cluster a class; each case leaves it without instances, with all machines on and all managers running."""
    settings = {}

    @classmethod
    def setUpClass(cls):
        why = machines.missing(lxd=harness.RUNTIME == "lxd")
        if why:
            raise unittest.SkipTest(why)
        cls.cluster = cls.enterClassContext(machines.MachineCluster(runtime=harness.RUNTIME, **cls.settings))
        cls.rig, cls.managers = cls.cluster.rig, cls.cluster.managers
        cls.await_nodes()
        cls.managers[0].add_image()

    def setUp(self):
        self.addCleanup(self.clean)

    def clean(self):
        for manager in self.managers:
            if not manager.running():  # the case has failed
                self.cluster.power_on(manager.number)
        self.await_nodes()
        self.managers[0].remove_instances()
        until("nothing runs on the machines", lambda: not self.inits())

    @classmethod
    def await_nodes(cls, **wanted):
        """Until each manager says of each node that it is online, or what is wanted of it: m2="offline"."""
        expected = {m.name: wanted.get(m.name, "online") for m in cls.managers}
        for manager in filter(lambda m: m.running(), cls.managers):
            until(f"{manager.name} sees {expected}", lambda m=manager: nodes_of(m) == expected)

    def launch(self, manager, node=None, **fields):
        """A small instance; `node`: a manager, on whose machine it has to be."""
        return manager.launch(**{**SMALL, "services": [WEB], **({"node": node.name} if node else {}), **fields})

    def launch_on_each(self):
        """One instance on each machine, in the order of the machines, each by another machine's manager."""
        return [self.launch(self.managers[i - 1], node) for i, node in enumerate(self.managers)]

    def inits(self):
        """The first process of each container that really runs, and on which machine."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            init = self.init(int(pid))
            if init:
                found.append(init)
        return found

    def init(self, pid):
        """None: the process is not the first one of a container."""
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            if not re.search(r"^NSpid:\t\d+\t\d+\t1$", status, re.M) or same_users(pid):
                return None
            groups = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
        except OSError:
            return None  # it has just ended
        machine, id = re.search(rf"/{self.rig.name}(\d+)/", groups), ID.search(groups)
        return Init(int(machine[1]), id[1], pid) if machine and id else None

    def init_of(self, id):
        """The one that the instance has."""
        found = [init for init in self.inits() if init.id == id]
        self.assertEqual(len(found), 1, f"{id} runs as {found}")
        return found[0]

    def check_truth(self, manager):
        """What runs is what the records say: each running instance once, on its machine, with its address; nothing else."""
        records = manager.containers()
        said = sorted((r["id"], r["node"], r["address"]) for r in records if r["status"] == "running")
        self.assertEqual(said, sorted((i.id, f"m{i.machine}", address_of(i.pid)) for i in self.inits()))
        addresses = [r["address"] for r in records if r["address"]]
        self.assertEqual(len(addresses), len(set(addresses)), addresses)

    def fetched(self, machine, url, *options):
        """What curl gets on the machine of a manager; None: outside of all machines."""
        command, pipes = ["curl", "-fsS", "--max-time", "20", *options, url], {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes) if machine is None else self.rig.popen(machine.number, *command, **pipes) as curl:
            text, error = curl.communicate()
            return text or error


def nodes_of(manager):
    """None: it does not answer, as while it begins anew after it has lost the lead."""
    try:
        return {node["name"]: node["status"] for node in manager.api("GET", "/1.0/nodes?recursion=1").metadata or []}
    except OSError:
        return None


def same_users(pid):
    return os.readlink(f"/proc/{pid}/ns/user") == os.readlink("/proc/self/ns/user")


def address_of(pid):
    """The first address of eth0 in the network of a process."""
    shown = subprocess.run(["nsenter", "-t", str(pid), "-n", "ip", "-4", "-o", "address", "show", "dev", "eth0"], capture_output=True, text=True)
    found = re.search(r"inet ([0-9.]+)/", shown.stdout)
    return found and found[1]

#!/usr/bin/env python3
"""Three machines, each with an LXD as its package leaves it: the managers form LXD's cluster, also when one is killed meanwhile;
nodes leave it and return."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import machines  # noqa: E402
from cluster import harness, until  # noqa: E402

SMALL = {"cpu": 1, "memory": 64 << 20, "disk_size": 64 << 20}


class Mortal(machines.MachineManager):
    """Dies where it is told to."""
    program = harness.BUILD / "tests/crash/svcd"
    place = None

    def command(self):
        return ["env", *([f"SVC_FAILPOINT={self.place}:1"] if self.place else []), *super().command()]

    def dies_at(self, place):
        """Whether it did, instead of becoming ready."""
        self.place = place
        try:
            self.start()
            return False
        except AssertionError:
            return self.process.wait(harness.PATIENCE) != 0
        finally:
            self.place = None

    def lxd(self, path, method="GET", body=None):
        """What the LXD of the machine answers."""
        data = ["-d", json.dumps(body)] if body is not None else []
        call = ["curl", "-sS", "--max-time", "60", "-X", method, *data, "--unix-socket", self.machine["lxd_socket"], "http://lxd" + path]
        return json.loads(subprocess.run(call, capture_output=True, check=True).stdout)["metadata"]

    def nodes(self):
        return {n["name"]: n for n in self.api("GET", "/1.0/nodes?recursion=1").metadata}

    def await_status(self, **wanted):
        until(f"{self.name} sees {wanted}", lambda: {name: self.nodes().get(name, {}).get("status") for name in wanted} == wanted)

    def says(self, text):
        until(f"{self.name} says {text}", lambda: text in self.whole_log())


@unittest.skipUnless(os.environ.get("SVC_TEST_LONG"), "takes minutes; SVC_TEST_LONG=1")
class Join(unittest.TestCase):
    settings = {"lxd_cluster": "join", "lxd_pool": "disks", "agent": str(harness.AGENT)}

    @classmethod
    def setUpClass(cls):
        why = machines.missing(lxd=True) or cls.missing()
        if why:
            raise unittest.SkipTest(why)
        cls.rig = machines.Rig(lxd=True, lxd_cluster=0)
        cls.addClassCleanup(cls.take_down)
        cls.managers = []
        cls.rig.up()
        cls.managers = [Mortal(cls.rig, i + 1, "lxd", **cls.settings) for i in range(3)]

    @staticmethod
    def missing():
        return None

    @classmethod
    def take_down(cls):
        for manager in cls.managers:
            manager.close()
        left = cls.rig.down()
        assert not left, left

    def setUp(self):
        if not any(manager.running() for manager in self.managers):
            self.form()
            self.managers[0].add_image()

    def test_a_cluster_is_formed_though_the_founder_dies(self):
        self.launch_on(*self.managers)
        self.follow_states()

    def test_a_node_leaves_and_returns(self):
        leader, other = self.leader_and_other()
        self.launch_on(other)  # leaves a layer there
        leader.succeed(leader.api("DELETE", f"/1.0/nodes/{other.name}"))
        self.check_members(*self.others(other))
        other.says(f"node {other.name} was removed: POST /1.0/nodes adds it again")
        self.assertFalse(other.lxd("/1.0")["environment"]["server_clustered"])
        self.assertEqual(other.lxd("/1.0/storage-pools"), [])
        self.add(leader, other)

    def test_a_node_with_instances_stays(self):
        leader, other = self.leader_and_other()
        ids = sorted(leader.launch(node=other.name, **SMALL) for _ in range(2))
        self.addCleanup(leader.remove_instances)
        refused = leader.api("DELETE", f"/1.0/nodes/{other.name}")
        self.assertEqual((refused.status, refused.error), (409, f"node {other.name} is in use by instances {', '.join(ids)}"))
        self.check_members(*self.managers)
        leader.succeed(leader.api("DELETE", f"/1.0/nodes/{other.name}", {"force": True}))
        self.check_members(*self.others(other))
        self.assertEqual(leader.containers(), [])
        self.add(leader, other)

    def test_a_node_whose_machine_is_dead_leaves_by_force(self):
        leader, other = self.leader_and_other()
        leader.launch(node=other.name, **SMALL)
        self.rig.command("kill", other.number, "all")
        other.kill()
        leader.await_status(**{other.name: "offline"})
        refused = leader.api("DELETE", f"/1.0/nodes/{other.name}")
        self.assertEqual(refused.status, 409)
        leader.succeed(leader.api("DELETE", f"/1.0/nodes/{other.name}", {"force": True}))
        self.check_members(*self.others(other))
        self.assertEqual(leader.containers(), [])
        self.come_back(leader, other)

    def test_a_node_whose_lxd_is_dead_leaves_by_force(self):
        """Nobody tells its manager, which lives."""
        leader, other = self.leader_and_other()
        self.rig.command("kill", other.number, "lxd")
        leader.await_status(**{other.name: "error"})
        self.assertIn("Unable to connect", leader.wait(leader.api("DELETE", f"/1.0/nodes/{other.name}"))["err"])
        leader.await_status(**{other.name: "error"})
        leader.succeed(leader.api("DELETE", f"/1.0/nodes/{other.name}", {"force": True}))
        self.check_members(*self.others(other))
        other.kill()
        self.come_back(leader, other)

    def come_back(self, leader, other):
        """An LXD that its cluster has forgotten is made anew."""
        shutil.rmtree(self.rig.dir / str(other.number) / "lxd")
        self.rig.command("start", other.number, "all")
        self.rig.command("exec", other.number, "lxd", "waitready", "--timeout", harness.PATIENCE)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            started = pool.submit(other.start)
            leader.succeed(leader.api("POST", "/1.0/nodes", {"name": other.name, "address": other.address}))
            started.result()
        self.check_members(*self.managers)
        self.launch_on(other)

    def form(self):
        """All begin at once. The founder dies in the middle; no other one founds a second cluster."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            first = {manager: pool.submit(manager.dies_at, "lxd.founded") for manager in self.managers}
            done, _ = concurrent.futures.wait(first.values(), harness.PATIENCE, concurrent.futures.FIRST_COMPLETED)
            self.assertEqual([each.result() for each in done], [True])
            founder = next(manager for manager, end in first.items() if end in done)
            founder.kill()
            founder.start()
            self.assertEqual([each.result() for each in first.values() if each not in done], [False, False])
        self.check_members(*self.managers)

    def check_members(self, *members):
        names = {manager.name for manager in members}
        for manager in members:
            manager.await_status(**dict.fromkeys(names, "online"))
            found = manager.lxd("/1.0/cluster/members?recursion=1")
            self.assertEqual({m["server_name"]: m["status"] for m in found}, dict.fromkeys(names, "Online"))
            self.assertEqual({n["storage_pool"] for n in manager.nodes().values()}, {"disks"})
            self.assertEqual({n["managed"] for n in manager.nodes().values()}, {True})

    def leader_and_other(self):
        leader = self.leader()
        return leader, self.others(leader)[0]

    def others(self, manager):
        return [m for m in self.managers if m is not manager]

    def add(self, leader, other, **wishes):
        """A node that was removed: by POST it is what it was."""
        leader.succeed(leader.api("POST", "/1.0/nodes", {"name": other.name, "address": other.address, **wishes}))
        self.check_members(*self.managers)
        self.launch_on(other)

    def leader(self):
        return next(m for m in self.managers if m.running() and self.managers_of_leader()[m.name])

    def managers_of_leader(self):
        living = next(m for m in self.managers if m.running())
        return {name: node["is_master"] for name, node in living.nodes().items()}

    def launch_on(self, *nodes):
        for node in nodes:
            self.managers[0].remove("/1.0/containers/" + self.managers[0].launch(node=node.name, **SMALL))

    def follow_states(self):
        """LXD fails while its manager lives; LXD is evacuated."""
        leader, other = self.leader_and_other()
        self.rig.command("kill", other.number, "lxd")
        leader.await_status(**{other.name: "error"})
        refused = leader.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3", "node": other.name, **SMALL})
        self.assertEqual((refused.status, refused.error), (400, f"scheduling on node {other.name} not allowed: it is error"))
        self.rig.command("start", other.number, "lxd")
        leader.await_status(**{other.name: "online"})
        leader.lxd(f"/1.0/cluster/members/{other.name}/state", "POST", {"action": "evacuate"})
        leader.await_status(**{other.name: "evacuated"})
        leader.lxd(f"/1.0/cluster/members/{other.name}/state", "POST", {"action": "restore"})
        leader.await_status(**{other.name: "online"})


class JoinBtrfs(Join):
    """The pool is a file system of its own in a file on each machine."""
    settings = {**Join.settings, "lxd_pool_driver": "btrfs", "lxd_pool_size": "1GiB"}

    @staticmethod
    def missing():
        return None if shutil.which("mkfs.btrfs") else "needs btrfs-progs"

    def test_a_disk_has_a_limit(self):
        leader, other = self.leader_and_other()
        id = leader.launch(node=other.name, **SMALL)
        self.addCleanup(leader.remove_instances)
        written = leader.ctl("exec", id, "--", "dd", "if=/dev/urandom", "of=/var/big", "bs=1M", "count=100")
        self.assertIn(b"quota exceeded", written.stdout + written.stderr)

    def test_a_node_returns_with_a_device(self):
        leader, other = self.leader_and_other()
        leader.succeed(leader.api("DELETE", f"/1.0/nodes/{other.name}"))
        device = self.loop_device()
        self.add(leader, other, storage_device=device)
        self.assertEqual(other.lxd(f"/1.0/storage-pools/disks?target={other.name}")["config"]["volatile.initial_source"], device)

    def loop_device(self):
        disk = self.rig.dir / "disk"
        with open(disk, "wb") as file:
            file.truncate(1 << 30)
        device = subprocess.run(["losetup", "-f", "--show", disk], capture_output=True, text=True, check=True).stdout.strip()
        self.addClassCleanup(subprocess.run, ["losetup", "-d", device], check=True)
        return device


if __name__ == "__main__":
    cases.main()

#!/usr/bin/env python3
"""Members of an LXD cluster die and come back while svcd uses them: nothing is lost or done twice, and each step can be repeated."""
import json
import os
import subprocess

from on_machines import LONG, SMALL, OnMachines, cases, until

STEPS = ("created", "prepared", "started", "running")


class LxdMembers(OnMachines):

    def kill_lxd(self, manager):
        self.rig.command("kill", manager.number, "lxd")
        self.addCleanup(self.rig.command, "start", manager.number, "lxd")

    def start_lxd(self, manager):
        """Until it answers, and each manager knows that."""
        self.rig.command("start", manager.number, "lxd")
        self.lxc(manager, "query", "/1.0/cluster/members")
        until("the node is online", lambda: all(m.api("GET", f"/1.0/nodes/{manager.name}").metadata["status"] == "online" for m in self.managers))

    def lxc(self, manager, *command):
        """What the command printed; LXD may be starting."""
        return until("LXD answers", lambda: self.answer_of(manager, *command))[0]

    def answer_of(self, manager, *command):
        with self.rig.popen(manager.number, "lxc", *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lxc:
            text, _ = lxc.communicate()
            return (text,) if lxc.returncode == 0 else None

    def lxd_leader(self):
        """Whose LXD leads the cluster of LXD."""
        members = json.loads(self.lxc(self.managers[0], "query", "/1.0/cluster/members?recursion=1"))
        name, = [m["server_name"] for m in members if "database-leader" in m["roles"]]
        return next(m for m in self.managers if m.name == name)

    def usable(self, manager, id):
        return until(f"{id} can be used", lambda: manager.ctl("exec", id, "--", "true").returncode == 0)

    def test_instances_outlive_a_member(self):
        ids = self.launch_on_each()
        before = sorted(self.inits())
        victim = next(m for m in self.managers if m is not self.lxd_leader())
        self.kill_lxd(victim)
        self.assertEqual(sorted(self.inits()), before)
        other = self.managers[victim.number - 2]
        self.assertEqual(self.init_of(self.launch(victim, other)).machine, other.number)
        self.start_lxd(victim)
        for id in ids:
            self.usable(other, id)
        self.assertEqual(self.init_of(self.launch(other, victim)).machine, victim.number)
        self.settle(ids)

    def test_the_leader_of_the_members_dies(self):
        ids = self.launch_on_each()
        victim = self.lxd_leader()
        other = self.managers[victim.number - 2]
        self.kill_lxd(victim)
        self.assertEqual(self.init_of(self.launch(victim, other)).machine, other.number)
        self.start_lxd(victim)
        for id in ids:
            self.usable(other, id)
        self.assertEqual(self.init_of(self.launch(other, victim)).machine, victim.number)
        self.settle(ids)

    def test_a_member_dies_while_it_launches(self):
        """At every step that can be seen: the operation ends, and the next launch is not in its way."""
        home, other = self.managers[1:]
        for step in range(3) if LONG else (1,):
            reply = other.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3", "node": home.name, **SMALL})
            id = reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]
            until("the launch has come so far", lambda: self.managers[0].container(id)["status"] in STEPS[step:])
            self.kill_lxd(home)
            self.start_lxd(home)
            other.wait(reply)
            other.remove(f"/1.0/containers/{id}")
            self.usable(other, self.launch(other, home))
            self.managers[0].remove_instances()
            until("LXD has no instance", lambda: self.lxc(other, "list", "-f", "csv", "-c", "n") == "")

    def settle(self, ids):
        """What was there before the death runs, once each."""
        for manager in self.managers:
            until("all run", lambda m=manager: {r["status"] for r in m.containers()} == {"running"})
            self.assertLessEqual(set(ids), {r["id"] for r in manager.containers()})
            self.check_truth(manager)


if __name__ == "__main__":
    if os.environ.get("SVC_TEST_RUNTIME") != "lxd":
        raise SystemExit("SVC_TEST_RUNTIME=lxd is needed")
    cases.main()

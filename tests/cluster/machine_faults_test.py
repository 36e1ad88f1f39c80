#!/usr/bin/env python3
"""Managers are killed, machines lose their power or the network, disks get slow: real containers on three machines go on, once each,
and are recognised. SVC_TEST_RUNTIME: lxc or lxd. SVC_TEST_LONG=1: more cases."""
import concurrent.futures
import unittest

from on_machines import LONG, SMALL, OnMachines, cases, until

WRITES = 15  # a second, of a disk that is overworked


class Faults(OnMachines):
    settings = {"isolate_instances": "no"}

    def setUp(self):
        super().setUp()
        self.ids = self.launch_on_each()
        self.before = {init.id: init for init in self.inits()}
        self.assertEqual(sorted(self.before), sorted(self.ids))

    def at(self, manager):
        """The instance of its machine."""
        return self.ids[manager.number - 1]

    def away(self, victim):
        """Until all others know that the machine is away; what they say of its instance then."""
        self.await_nodes(**{victim.name: "offline"})
        for other in self.others(victim):
            record = until("the instance is in error", lambda m=other: failed(m, self.at(victim)))
            self.assertIn(f"node {victim.name} is offline", record["error_message"])
            self.assertEqual(sorted(r["id"] for r in other.containers()), sorted(self.ids))

    def others(self, victim):
        return [manager for manager in self.managers if manager is not victim]

    def work_with(self, managers):
        """Each of them launches on its machine, and its agent's report arrives; the new ones can be used through the other."""
        new = [self.launch(other, manager) for manager, other in zip(managers, reversed(managers))]
        for id, manager in zip(new, managers):
            self.assertEqual(self.init_of(id).machine, manager.number)
            manager.execute(id, "true")
        return new

    def back(self):
        """Until all is as it was: every instance runs once, is said to run by each manager, and can be used through each."""
        self.await_nodes()
        for manager in self.managers:
            until(f"{manager.name} says that all run", lambda m=manager: {r["status"] for r in m.containers()} == {"running"})
            until(f"{manager.name} reaches them all", lambda m=manager: all(m.ctl("exec", id, "--", "true").returncode == 0 for id in self.ids))
            self.check_truth(manager)

    def same(self, ids):
        """They were not started again."""
        now = {init.id: init for init in self.inits()}
        self.assertEqual({id: now.get(id) for id in ids}, {id: self.before[id] for id in ids})

    def test_instances_outlive_a_leader_that_is_killed(self):
        self.outlive(self.cluster.leader())

    @unittest.skipUnless(LONG, "SVC_TEST_LONG")
    def test_instances_outlive_a_follower_that_is_killed(self):
        self.outlive(self.cluster.followers()[0])

    def outlive(self, victim):
        unwanted = self.launch(victim, victim)
        victim.kill()
        other = self.others(victim)[0]
        self.await_nodes(**{victim.name: "offline"})
        until("the instance is in error", lambda: failed(other, unwanted))
        other.succeed(other.api("DELETE", f"/1.0/containers/{unwanted}", {"force": True}))
        self.away(victim)
        self.same(self.ids)
        self.assertIn(unwanted, [init.id for init in self.inits()])
        self.work_with(self.others(victim))
        victim.start()
        until("what was deleted meanwhile ends", lambda: unwanted not in [init.id for init in self.inits()])
        self.back()
        self.same(self.ids)

    def test_all_managers_are_killed_at_once(self):
        for manager in self.managers:
            manager.kill()
        self.same(self.ids)
        for manager in self.managers:
            manager.start()
        self.back()
        self.same(self.ids)

    def test_a_machine_loses_its_power(self):
        self.lose_power(self.cluster.followers()[0])

    @unittest.skipUnless(LONG, "SVC_TEST_LONG")
    def test_the_leaders_machine_loses_its_power(self):
        self.lose_power(self.cluster.leader())

    def start_again(self, victim):
        """The instance of a machine that was switched off and on: its container does not run, and its record says so."""
        id = self.at(victim)
        for manager in self.managers:
            until("the instance is gone", lambda m=manager: m.container(id)["error_message"] == "container is gone")
            self.assertEqual(manager.container(id)["status"], "error")
        other = self.others(victim)[0]
        other.succeed(other.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "running"}))
        self.assertEqual(other.execute(id, "cat", "/root/mark"), "kept\n")

    def lose_power(self, victim):
        victim.execute(self.at(victim), "sh", "-c", "echo kept >/root/mark; sync")
        self.cluster.power_off(victim.number)
        self.away(victim)
        self.same([self.at(other) for other in self.others(victim)])
        self.work_with(self.others(victim))
        self.cluster.power_on(victim.number)
        self.await_nodes()
        self.start_again(victim)
        self.back()
        self.same([self.at(other) for other in self.others(victim)])

    def test_the_leaders_machine_is_cut_off(self):
        self.cut_off(self.cluster.leader())

    @unittest.skipUnless(LONG, "SVC_TEST_LONG")
    def test_a_followers_machine_is_cut_off(self):
        self.cut_off(self.cluster.followers()[0])

    def cut_off(self, victim):
        self.rig.command("cut", victim.number)
        self.addCleanup(self.rig.command, "heal", victim.number)
        self.away_from_outside(victim)
        refused = victim.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3", "node": victim.name, **SMALL})
        self.assertEqual(refused.status, 503, refused.raw)
        self.same(self.ids)
        self.work_with(self.others(victim))
        self.rig.command("heal", victim.number)
        self.back()
        self.same(self.ids)

    def away_from_outside(self, victim):
        """As away(), but for the machine's own manager, which runs and knows nothing."""
        for other in self.others(victim):
            until("the machine is offline", lambda m=other: failed(m, self.at(victim)))

    def test_instances_of_two_machines_reach_each_other_where_they_may(self):
        addresses = [self.managers[0].container(id)["address"] for id in self.ids]
        for id in self.ids:
            for address in addresses:
                self.assertEqual(self.managers[0].execute(id, "timeout", "20", "wget", "-q", "-O", "-", f"http://{address}/"), "it works\n")

    @unittest.skipUnless(LONG, "SVC_TEST_LONG")
    def test_a_disk_under_etcd_is_slow(self):
        for manager in self.managers:
            self.rig.command("slow", manager.number, WRITES)
            self.addCleanup(self.rig.command, "slow", manager.number, "off")
        with concurrent.futures.ThreadPoolExecutor(6) as clients:
            new = list(clients.map(self.launch, [*self.managers, *self.managers], [None] * 6))
        self.assertEqual(sorted(r["id"] for r in self.managers[1].containers()), sorted(self.ids + new))
        self.back()


def failed(manager, id):
    record = manager.container(id)
    return record if record["status"] == "error" else None


if __name__ == "__main__":
    cases.main()

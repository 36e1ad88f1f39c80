#!/usr/bin/env python3
"""Members of etcd are killed, managers are stopped, clocks are moved while clients work; then everything that was told is compared.
etcd has three members, and so many managers use it. SVC_TEST_SEED: what is asked for."""
import json
import os
import pathlib
import signal
import sys
import time
import unittest

from load import KEPT, Load
from workload import NOT_STARTED

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import cluster  # noqa: E402
from cluster import until  # noqa: E402

LONG = bool(os.environ.get("SVC_TEST_LONG"))
FAKETIME = next(pathlib.Path("/usr/lib").rglob("libfaketime.so.1"), None)
MEMBERS = 3
# What a client may be told of a change while etcd has no majority.
WITHOUT_MAJORITY = ("etcd", "no manager leads the cluster at present; nothing was done",
                    "the leading manager was lost meanwhile: it is not known whether the request was done")


def answers(manager):
    try:
        return manager.api("GET", "/1.0").status == 200
    except OSError:
        return False


@unittest.skipUnless(cluster.available(), "needs etcd")
class Faults(unittest.TestCase):
    def setUp(self):
        self.managers = cluster.Cluster(MEMBERS, etcd_members=MEMBERS, **KEPT)
        self.addCleanup(self.managers.close)
        self.etcd = self.managers.etcd

    def begin(self):
        self.managers.__enter__()
        load = Load(self.managers)
        self.addCleanup(load.stop)
        return load.__enter__()

    def test_members_of_etcd_are_killed_one_after_the_other(self):
        load = self.begin()
        for member in range(MEMBERS):
            load.goes_on()
            self.etcd.kill(member)
            load.goes_on()
            self.start_member(member)
        self.assertEqual("", "\n".join(load.problems()))
        self.assertEqual(0, sum(client.unknown for client in load.clients), "clients were told of an error")

    def test_the_leader_is_killed_together_with_the_leading_member_of_etcd(self):
        load = self.begin()
        load.goes_on()
        leader, member = self.managers.leader(), self.leading_member()
        leader.kill()
        self.etcd.kill(member)
        load.asked.remove(leader)
        self.assertIsNot(leader, self.managers.leader())
        load.goes_on()
        leader.start()
        load.asked.append(leader)
        self.start_member(member)
        load.goes_on()
        self.assertEqual("", "\n".join(load.problems()))

    @unittest.skipUnless(LONG, "takes long: SVC_TEST_LONG=1")
    def test_a_follower_is_killed_together_with_a_member_of_etcd(self):
        load = self.begin()
        load.goes_on()
        follower = self.managers.followers()[0]
        follower.kill()
        self.etcd.kill(0)
        load.goes_on()
        follower.start()
        self.start_member(0)
        load.goes_on()
        self.assertEqual("", "\n".join(load.problems()))

    def test_etcd_loses_its_majority_and_has_it_again(self):
        load = self.begin()
        load.goes_on()
        known = [record["id"] for record in self.managers.managers[0].containers()]
        for member in (0, 1):
            self.etcd.kill(member)
        for manager in self.managers.managers:
            self.refuses_changes(load, manager)
            self.assertLessEqual(1, len(manager.containers()))
            self.assertLessEqual(1, sum(manager.api("GET", f"/1.0/containers/{id}").status == 200 for id in known[-1:]))
        for member in (0, 1):
            self.etcd.start_member(member)
        load.goes_on()
        self.assertEqual("", "\n".join(load.problems()))

    def refuses_changes(self, load, manager):
        """It may be made all the same, once etcd is back: the answer says that this is not known."""
        name, begun = f"refused-by-{manager.name}", time.monotonic()
        reply = manager.api("POST", "/1.0/containers", {"name": name, "image_id": "base", "instance_type": "a2.3"})
        took = time.monotonic() - begun
        self.assertEqual(503, reply.status, reply.raw)
        self.assertTrue(any(text in reply.error for text in WITHOUT_MAJORITY), reply.error)
        if "not known" in reply.error:
            load.history.unsure(f"instance {name}", *NOT_STARTED)
        print(f"{manager.name}, without a majority of etcd, after {took:.1f} s: {reply.error}", file=sys.stderr)

    def test_a_leader_that_was_stopped_for_longer_than_its_lease_follows_another_one(self):
        load = self.begin()
        load.goes_on()
        stopped = self.managers.leader()
        load.asked.remove(stopped)
        stopped.signal(signal.SIGSTOP)
        until("another manager leads", lambda: self.managers.leading() not in (None, stopped))
        load.add_client(stopped)  # it is asked before it knows
        load.goes_on()
        stopped.signal(signal.SIGCONT)
        until("it begins anew", lambda: "the process begins anew" in stopped.whole_log())
        until("it answers again", lambda: answers(stopped))
        load.asked.append(stopped)
        load.goes_on()
        self.assertIsNot(stopped, self.managers.leader())
        self.assertEqual("", "\n".join(load.problems()))

    def test_etcd_is_compacted_while_a_follower_is_stopped(self):
        load = self.begin()
        load.goes_on()
        follower = self.managers.followers()[0]
        load.asked.remove(follower)
        follower.signal(signal.SIGSTOP)
        for member in range(MEMBERS):  # its watch has ended, so it will ask for what has come meanwhile
            self.etcd.kill(member)
            self.start_member(member)
        before = self.revision()
        until("something is changed", lambda: self.revision() > before + 10)
        self.assertEqual(0, self.etcd.control("compaction", str(self.revision())).returncode)
        follower.signal(signal.SIGCONT)
        load.asked.append(follower)
        load.goes_on()
        self.assertEqual("", "\n".join(load.problems()))

    @unittest.skipUnless(FAKETIME, "needs faketime")
    def test_clocks_of_managers_are_moved(self):
        clock = self.etcd.dir / "clock"
        clock.write_text("+0\n")
        for manager in self.managers.managers[:2]:
            manager.environment = {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": 1,
                                   "FAKETIME_DONT_FAKE_MONOTONIC": 1}
        load = self.begin()
        leader = self.managers.leader()
        for step in ("+3600", "-3600", "+1000000", "+0"):
            clock.write_text(step + "\n")
            load.goes_on()
            self.assertIs(leader, self.managers.leader(), f"after a step to {step} s")
        self.assertEqual("", "\n".join(load.problems()))

    # etcd

    def members(self):
        """What each that lives says."""
        return json.loads(self.etcd.control("endpoint", "status", "--write-out", "json").stdout)

    def revision(self):
        return max(member["Status"]["header"]["revision"] for member in self.members())

    def leading_member(self):
        """Its number."""
        url = next(each["Endpoint"] for each in self.members() if each["Status"]["leader"] == each["Status"]["header"]["member_id"])
        return self.etcd.members.index(url)

    def start_member(self, number):
        self.etcd.start_member(number)
        until("all members answer", lambda: self.etcd.control("endpoint", "health").returncode == 0)


if __name__ == "__main__":
    cases.main()

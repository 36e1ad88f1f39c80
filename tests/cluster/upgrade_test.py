#!/usr/bin/env python3
"""Managers of two versions in one cluster. The newer one is the same program, told that it knows one schema of records more."""
import json
import pathlib
import re
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import cluster  # noqa: E402
from cluster import harness, until  # noqa: E402

PROGRAM = harness.BUILD / "tests/crash/svcd"  # knows SVC_TEST_SCHEMA
SCHEMA_KEY = "/svc/cluster/schema"
OLDER = int(re.search(r"records_schema = (\d+);", (harness.ROOT / "libsvc/model/values/schema.h").read_text())[1])
NEWER = OLDER + 1
ADDON = harness.package({"manifest.yaml": "name: one\n", "hooks/install": harness.hook("true")})


@unittest.skipUnless(cluster.available(), "needs etcd")
@unittest.skipUnless(PROGRAM.exists(), "needs tests/crash/svcd")
class Upgrade(unittest.TestCase):
    def setUp(self):
        self.cluster = cluster.Cluster(3)
        for manager in self.cluster.managers:
            manager.program = PROGRAM
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)

    def upgrade(self, manager):
        manager.kill(signal.SIGTERM)
        self.cluster.leader()
        manager.environment = {"SVC_TEST_SCHEMA": NEWER}
        manager.start()

    def raised(self):
        return json.loads(self.cluster.etcd.values(SCHEMA_KEY)[SCHEMA_KEY])["schema"]

    def change(self, manager, name):
        manager.succeed(manager.upload("POST", "/1.0/addons", ADDON, name=name))

    def test_managers_are_upgraded_one_after_the_other_the_leader_first(self):
        for number in range(3):
            self.assertEqual(OLDER, self.raised())
            leader = self.cluster.leader()
            self.assertEqual({}, leader.environment, "a newer manager leads while an older one lives")
            self.upgrade(leader)
            for manager in self.cluster.managers:
                self.change(manager, f"{manager.name}-{number}")
        until("the schema is raised", lambda: self.raised() == NEWER)
        self.assertEqual(9, len(self.cluster.managers[0].api("GET", "/1.0/addons").metadata))

    def test_a_newer_manager_says_why_it_does_not_lead(self):
        newer, older = self.cluster.followers()
        self.upgrade(newer)
        self.cluster.leader().kill(signal.SIGTERM)
        until("the older one leads", lambda: self.cluster.leading() is older)
        reason = f"does not know schema {NEWER} of records, but {OLDER}: it must be upgraded"
        until("the newer one says why it does not", lambda: reason in newer.whole_log())
        older.kill(signal.SIGTERM)
        until("the newer one leads", lambda: self.cluster.leading() is newer)
        self.assertEqual(NEWER, self.raised())

    def test_an_older_manager_does_not_start_among_newer_records(self):
        for manager in self.cluster.managers:
            self.upgrade(manager)
        until("the schema is raised", lambda: self.raised() == NEWER)
        older = self.cluster.followers()[0]
        older.kill()
        older.environment = {}
        with self.assertRaisesRegex(AssertionError, f"are of schema {NEWER}, and this version knows {OLDER}: it must be upgraded"):
            older.start()
        self.change(self.cluster.leader(), "goes-on")


if __name__ == "__main__":
    cases.main()

#!/usr/bin/env python3
"""How many transactions of etcd a launch and a deletion take, through each of three managers."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import cluster  # noqa: E402
from cluster import harness, until  # noqa: E402
from transactions import committed, revision  # noqa: E402

IMAGE = harness.package({"metadata.yaml": "architecture: x86_64\ncreation_date: 1\n", "rootfs/etc/text": "1"}, "gz")
LAUNCH, DELETION = 3, 2
ROUNDS = 3  # through each manager
RECORDS = "/svc/records/"


@unittest.skipUnless(cluster.available(), "needs etcd")
class Commits(unittest.TestCase):
    def setUp(self):
        managers = cluster.Cluster(3)
        self.addCleanup(managers.close)
        self.managers = managers.__enter__()
        self.etcd = managers.etcd
        self.one = managers.managers[0]
        self.one.succeed(self.one.upload("POST", "/1.0/images", IMAGE, name="base"))
        until("all are nodes", lambda: [n["status"] for n in self.one.api("GET", "/1.0/nodes?recursion=1").metadata] == ["online"] * 3)

    def test_a_launch_and_a_deletion_take_no_more_than_they_need(self):
        for manager in self.managers.managers * ROUNDS:
            launched, transactions = self.transactions(lambda m=manager: m.api("POST", "/1.0/containers", {
                "image_id": "base", "instance_type": "a2.3"}))
            self.assertEqual(LAUNCH, len(transactions), transactions)
            _, transactions = self.transactions(lambda m=manager, url=launched["resources"]["containers"][0]: m.api("DELETE", url, {}))
            self.assertEqual(DELETION, len(transactions), transactions)

    def test_no_records_are_written_beside_them(self):
        before = revision(self.etcd)
        for manager in self.managers.managers * ROUNDS:
            record = manager.succeed(manager.api("POST", "/1.0/containers", {"image_id": "base", "instance_type": "a2.3"}))
            manager.succeed(manager.api("DELETE", record["resources"]["containers"][0], {}))
        written = [keys for keys in committed(self.etcd, before, revision(self.etcd)) if any(key.startswith(RECORDS) for key in keys)]
        self.assertEqual(len(self.managers.managers) * ROUNDS * (LAUNCH + DELETION), len(written), written)

    def transactions(self, request):
        """The operation's record, and what etcd has committed for it and its container until its end."""
        before = revision(self.etcd)
        record = self.one.succeed(request())
        ids = {record["id"], record["resources"]["containers"][0].rsplit("/", 1)[1]}
        return record, [keys for keys in committed(self.etcd, before, revision(self.etcd)) if any(id in key for id in ids for key in keys)]


if __name__ == "__main__":
    cases.main()

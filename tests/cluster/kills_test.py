#!/usr/bin/env python3
"""Managers are killed at random moments while clients work through random managers; then everything that was told is compared.
SVC_CLUSTER_KILLS: how many kills a case (3; 100 with SVC_TEST_LONG=1). SVC_TEST_SEED: what is asked for, and the moments."""
import os
import pathlib
import random
import sys
import time
import unittest

import ends
from load import KEPT, SEED, Load

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import cluster  # noqa: E402
from cluster import until  # noqa: E402

KILLS = int(os.environ.get("SVC_CLUSTER_KILLS") or (100 if os.environ.get("SVC_TEST_LONG") else 3))
CHANGES = 25  # that have ended between two kills, at most


@unittest.skipUnless(cluster.available(), "needs etcd")
class Kills(unittest.TestCase):
    def setUp(self):
        self.random, self.takeovers = random.Random(SEED), []
        self.read_to = 0  # the last event that a subscriber was sent

    def test_nothing_that_was_acknowledged_is_lost_or_done_twice(self):
        self.survive(lambda managers: [self.random.choice(managers.managers)])

    def test_nor_when_the_leader_is_killed_each_time(self):
        self.survive(lambda managers: [managers.leader()], takeovers=True)

    def test_nor_when_all_are_killed_at_once(self):
        self.survive(lambda managers: managers.managers)

    def survive(self, victims, takeovers=False):
        with cluster.Cluster(3, **KEPT) as managers, Load(managers) as load:
            for number in range(KILLS):
                load.goes_on(self.random.randrange(1, CHANGES))
                self.kill(load, victims(managers), takeovers and number % 2 == 0)
            self.assertEqual("", "\n".join(load.problems()))
            print(f"{KILLS} kills, {load.ended()} operations: no acknowledged change lost", file=sys.stderr)
        if self.takeovers:
            print(f"takeovers: {len(self.takeovers)}, the longest took {max(self.takeovers):.1f} s", file=sys.stderr)

    def kill(self, load, victims, await_takeover):
        """The same manager leads again where it is back before its lease has ended; else another one takes over."""
        streams = [ends.Events(manager, self.read_to) for manager in victims]
        for manager in victims:
            manager.kill()
        killed = time.monotonic()
        received = [stream.stop() for stream in streams]
        load.history.streams += received
        self.read_to = max([self.read_to, *(event.get("sequence", 0) for events in received for event in events)])
        if await_takeover:
            until("another manager leads", load.cluster.leading)
            load.goes_on(1)
            self.takeovers.append(time.monotonic() - killed)
        for manager in victims:
            manager.start()


if __name__ == "__main__":
    cases.main()

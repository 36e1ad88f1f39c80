#!/usr/bin/env python3
"""Random clients of three managers that are killed, over real containers on three machines: what clients were told, what each manager
says and what really runs are the same in the end. SVC_TEST_LONG=1; SVC_CLUSTER_KILLS: how many kills (5); SVC_TEST_RUNTIME: lxc or lxd."""
import os
import random
import unittest

from load import KEPT, SEED, Load
from on_machines import LONG, SMALL, WEB, OnMachines, cases
from workload import Client, name_of

KILLS = int(os.environ.get("SVC_CLUSTER_KILLS") or 5)
CLIENTS = 3


class RealClient(Client):
    def launch(self):
        thing = self.new("instance")
        body = {"name": name_of(thing), "image_id": "base", "instance_type": "a2.3", **SMALL, "services": [WEB]}
        self.change(thing, "running", "POST", "/1.0/containers", body, failed=("error",))


class RealLoad(Load):
    def __init__(self, cluster):
        super().__init__(cluster)
        self.clients = [RealClient(i, SEED, lambda: self.asked, self.history, self.enough) for i in range(CLIENTS)]

    def __enter__(self):
        self.cluster.managers[0].add_image("base")
        for client in self.clients:
            client.start()
        return self


@unittest.skipUnless(LONG, "SVC_TEST_LONG")
class Clients(OnMachines):
    settings = KEPT

    def test_nothing_that_was_acknowledged_is_lost_or_runs_twice(self):
        chance = random.Random(SEED)
        with RealLoad(self.cluster) as load:
            for _ in range(KILLS):
                load.goes_on(chance.randrange(1, 10))
                victim = chance.choice(self.managers)
                victim.kill()
                victim.start()
            self.assertEqual([], load.problems())
        for manager in self.managers:
            self.check_truth(manager)


if __name__ == "__main__":
    cases.main()

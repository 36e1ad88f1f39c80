"""Clients that work while a test breaks something, and what came of their changes at the end."""
import os
import pathlib
import sys
import threading

import check
import ends
from history import History
from workload import SUCCESS, Client

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import harness, until  # noqa: E402

SEED = int(os.environ.get("SVC_TEST_SEED") or int.from_bytes(os.urandom(4), "big"))
CLIENTS = 4
IMAGE = harness.package({"metadata.yaml": "architecture: x86_64\ncreation_date: 1\n", "rootfs/etc/text": "1"}, "gz")
# Of the managers: everything that a client was told of is kept until it is compared.
KEPT = {"event_queue_bytes": 64 << 20, "event_queue_messages": 100000, "keep_operations": 1000000}


class Load:
    """`with Load(cluster) as load`: clients ask its managers until the end, or until problems() is called."""

    def __init__(self, cluster):
        self.cluster, self.history, self.enough = cluster, History(), threading.Event()
        self.asked = list(cluster.managers)  # those that clients ask
        self.clients = [Client(i, SEED, lambda: self.asked, self.history, self.enough) for i in range(CLIENTS)]

    def __enter__(self):
        first = self.cluster.managers[0]
        first.succeed(first.upload("POST", "/1.0/images", IMAGE, name="base"))
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.enough.set()
        for client in self.clients:
            client.join()

    def add_client(self, manager):
        """One more, that asks this manager alone."""
        client = Client(len(self.clients), SEED, lambda: [manager], self.history, self.enough)
        self.clients.append(client)
        client.start()
        return client

    def ended(self):
        """How many operations have ended, as clients were told."""
        return sum(code is not None for code in list(self.history.operations.values()))

    def goes_on(self, more=5):
        """Until that many more operations have ended."""
        wanted = self.ended() + more
        until("clients get on", lambda: self.ended() >= wanted or self.failures())
        assert not self.failures(), self.failures()

    def failures(self):
        """Answers that no client expects."""
        return [client.failure for client in self.clients if client.failure]

    def problems(self):
        """Texts: what is not as clients were told, in the eyes of any manager, and how to do the same again."""
        self.stop()
        ends.settle(self.cluster.managers)
        found = [*map(repr, self.failures()), *check.problems(self.history, {m.name: ends.end_of(m) for m in self.cluster.managers})]
        if SUCCESS not in self.history.operations.values():
            found.append("nothing was done")
        return found and [*found, f"SVC_TEST_SEED={SEED}", *(m.log() for m in self.cluster.managers)]

#!/usr/bin/env python3
"""The disk of the state directory is full when a request comes, each of the workload in its turn: it succeeds, or fails and tells
why; the service goes on, what fills the disk can be deleted, and with room again the request succeeds."""
import os
import unittest

import lives
import workload
from service import harness

MEGABYTES = 400  # enough for svc.db.reserve
CAUSE = "space"
VICTIM = {"image_id": "a", "instance_type": "a2.3"}


@unittest.skipUnless(os.geteuid() == 0, "needs root: mounts")
class FullDisk(lives.SimulatedTest):
    def test_requests_on_a_full_disk_succeed_or_tell_why(self):
        self.go_through(lambda service: None)

    def test_what_was_acknowledged_on_a_full_disk_is_there_after_a_restart(self):
        self.go_through(lambda service: (service.kill(), service.start()))

    def go_through(self, between):
        with lives.OnDisk(MEGABYTES) as service:
            client = workload.Client(service, tolerant=True)
            service.start()
            for step in self.steps:
                with self.subTest(step=step.name):
                    self.take_on_full_disk(client, step, between)
            self.assertEqual(lives.wrong_after(service, client), [])

    def take_on_full_disk(self, client, step, between):
        service = client.service
        victim = self.victim(client)
        service.disk.fill()
        told = workload.refusal(client, step)
        between(service)
        for url in victim:
            service.succeed(service.api("DELETE", url, {"force": True}))
        service.disk.empty()
        if told is None:
            return self.assertTrue(client.reached(step))
        self.assertIn(CAUSE, told)
        self.take_back(client)
        self.assertIsNone(workload.refusal(client, step))

    def victim(self, client):
        """What is deleted while the disk is full."""
        client.service.succeed(client.service.upload("POST", "/1.0/addons", workload.O2, name="victim"))
        if "image a" not in client.known:
            return ["/1.0/addons/victim"]
        client.service.succeed(client.launch("victim", VICTIM))
        return ["/1.0/addons/victim", f"/1.0/containers/{client.id('victim')}"]

    def take_back(self, client):
        """Deletes what a failed step left in error."""
        for record in client.service.containers() or []:
            if f"instance {record['name']}" not in client.known:
                client.service.remove(f"/1.0/containers/{record['id']}")


if __name__ == "__main__":
    harness.cases.main()

#!/usr/bin/env python3
"""The disk of the state directory fails, and the kernel makes it read-only: requests that change something fail and tell why, all
others are answered, and a start tells why it ends. Once the disk is mended, the next start has what clients were told."""
import os
import unittest

import lives
import workload
from service import Died, harness

MEGABYTES = 400  # enough for svc.db.reserve
CAUSE = "read-only file system"
TAKEN_BEFORE = 7


@unittest.skipUnless(os.geteuid() == 0, "needs root: mounts")
class ReadOnlyDisk(lives.SimulatedTest):
    def test_changes_fail_and_tell_why_and_nothing_that_was_told_is_lost(self):
        with lives.OnDisk(MEGABYTES) as service:
            service.keeps_guests = False  # the journal of simulated containers is not synced
            client = workload.Client(service, tolerant=True)
            service.start()
            for step in self.steps[:TAKEN_BEFORE]:
                client.take(step)
            service.settle()
            known = workload.observe(service)
            service.disk.fail()
            self.changes_are_refused(service)
            self.assertEqual(workload.observe(service), known)
            self.assertEqual(service.kill(15), 0)
            self.assertRaises(Died, service.start)
            self.assertIn(CAUSE, service.log())
            service.disk.mend()
            self.assertEqual(lives.wrong_after(service, client), [])

    def changes_are_refused(self, service):
        for method, url, body in (("POST", "/1.0/containers", {"image_id": "a", "instance_type": "a2.3"}),
                                  ("PATCH", "/1.0/config", {"name": "images.update_interval", "value": "9m"}),
                                  ("DELETE", "/1.0/images/a", {"force": True})):
            with self.subTest(request=f"{method} {url}"):
                self.assertIn(CAUSE, str(service.api(method, url, body).raw))


if __name__ == "__main__":
    harness.cases.main()

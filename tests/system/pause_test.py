#!/usr/bin/env python3
"""Real guests that are paused: they stand still, also for the next daemon, and go on, end and go away like others."""
import pathlib

import harness

COUNTER = "trap 'echo bye >/root/end; exit' TERM; while :; do echo >>/root/count; done"


class Pause(harness.DaemonTest):
    def setUp(self):
        self.addCleanup(self.daemon.remove_instances)
        self.id = self.daemon.launch()
        self.daemon.execute(self.id, "sh", "-c", f"({COUNTER}) >/dev/null 2>&1 &")
        init = harness.pids_of(self.id)[0]
        self.count = pathlib.Path(f"/proc/{init}/root/root/count")
        self.assertTrue(self.daemon.eventually(self.count.exists))

    def counted(self):
        return self.count.stat().st_size

    def ctl(self, *arguments):
        done = self.daemon.ctl(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_paused_guest_stands_still_outlives_the_daemon_and_ends_in_order(self):
        self.ctl("pause", self.id)
        before = self.counted()
        refused = self.daemon.ctl("exec", self.id, "--", "true")
        self.assertIn(b"exec in a container that is paused not allowed", refused.stderr)
        self.daemon.restart()
        record = self.daemon.container(self.id)
        self.assertEqual((record["status"], record["paused"]), ("running", True))
        self.assertEqual(self.counted(), before)
        self.ctl("resume", self.id)
        self.assertTrue(self.daemon.eventually(lambda: self.counted() > before))
        self.ctl("pause", self.id)
        self.ctl("stop", self.id)
        self.ctl("start", self.id)
        self.assertEqual(self.daemon.execute(self.id, "cat", "/root/end"), "bye\n")

    def test_a_pause_and_its_end_survive_kill_9(self):
        for wish, paused in (("paused", True), ("running", None)):
            reply = self.daemon.api("PATCH", f"/1.0/instances/{self.id}", {"desired_status": wish})
            self.assertEqual(reply.status, 202, reply.body)
            self.daemon.restart()
            self.assertEqual(self.daemon.wait(reply)["status"], "Success")
            self.assertEqual(self.daemon.container(self.id).get("paused"), paused)
            before = self.counted()
        self.assertTrue(self.daemon.eventually(lambda: self.counted() > before))
        self.ctl("pause", self.id)  # and is removed so


if __name__ == "__main__":
    harness.cases.main()

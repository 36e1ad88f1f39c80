#!/usr/bin/env python3
"""kill -9 in the middle of everything: nothing acknowledged is lost, nothing stays half done."""
import json
import os
import pathlib
import signal
import subprocess

import harness

ACCEPTED = 202


class Crash(harness.DaemonTest):
    def settle(self):
        """After a restart: every operation ends, and the records agree with what runs."""
        listed = self.daemon.api("GET", "/1.0/operations?recursion=1").metadata
        for status, records in listed.items():
            for record in records:
                self.daemon.wait_operation(record["id"])

    def test_instances_outlive_kill_restart_and_stop(self):
        id = self.daemon.launch()
        marker = self.daemon.ctl("exec", id, "--", "sh", "-c", "echo here > /root/marker; cat /proc/uptime")
        self.assertEqual(marker.returncode, 0)
        self.daemon.kill(signal.SIGKILL)
        self.daemon.start()
        self.assertEqual(self.daemon.container(id)["status"], "running")
        self.assertEqual(self.daemon.ctl("exec", id, "--", "cat", "/root/marker").stdout, b"here\n")
        self.assertEqual(self.daemon.kill(signal.SIGTERM), 0)
        self.daemon.start()
        self.assertEqual(self.daemon.ctl("exec", id, "--", "cat", "/root/marker").stdout, b"here\n")
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))

    def test_launches_in_flight_are_finished_or_undone(self):
        replies = [self.daemon.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3", "cpu": 1,
                                                               "memory": 32 << 20, "disk_size": 64 << 20}) for _ in range(4)]
        self.assertEqual([r.status for r in replies], [ACCEPTED] * 4)
        self.daemon.restart()
        for reply in replies:
            record = self.daemon.wait_operation(reply.metadata["id"])
            self.assertEqual(record["status_code"], 200, record["err"])
        self.assertEqual({c["status"] for c in self.daemon.containers()}, {"running"})
        deletions = [self.daemon.api("DELETE", f"/1.0/containers/{c['id']}") for c in self.daemon.containers()]
        self.daemon.restart()
        for reply in deletions:
            self.daemon.wait_operation(reply.metadata["id"])
        self.assertEqual(self.daemon.containers(), [])
        self.assertEqual([x for x in self.daemon.leftovers() if not x.startswith(("process", "device", "rules"))], [])

    def test_import_in_flight_is_finished(self):
        reply = self.daemon.upload_image("interrupted", harness.busybox_image("tar.bz2"))
        self.daemon.restart()
        self.assertEqual(self.daemon.wait_operation(reply.metadata["id"])["status_code"], 200)
        self.assertEqual(self.daemon.api("GET", "/1.0/images/interrupted").metadata["status"], "active")

    def test_exec_in_flight_ends_with_a_reason(self):
        id = self.daemon.launch()
        client = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", id, "--", "sh", "-c",
                                   "echo started; exec sleep 976431"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(client.stdout.readline(), b"started\n")
        self.daemon.restart()
        client.communicate()
        self.assertEqual(client.returncode, 124)
        ended = {("Failure", "service restarted")}
        self.assertTrue(self.daemon.eventually(lambda: self.execs("sleep 976431") == ended), self.execs("sleep 976431"))
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}", {"force": True}))

    def execs(self, command):
        records = self.daemon.api("GET", "/1.0/operations?recursion=1").metadata.values()
        return {(o["status"], o["err"]) for group in records for o in group if o["class"] == "websocket" and command in str(o)}

    def test_instance_that_died_meanwhile_is_told(self):
        id = self.daemon.launch()
        self.daemon.kill()
        self.kill_guest(id)
        self.daemon.start()
        waited = self.daemon.ctl("wait", id, "-c", "status=error", "-t", "200s")
        self.assertEqual(waited.returncode, 0, waited.stderr)
        record = self.daemon.container(id)
        self.assertEqual(record["status"], "error")
        self.assertTrue(record["error_message"])
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}", {"force": True}))

    def kill_guest(self, id):
        for pid in harness.pids_of(id):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # gone with its init

    def test_every_state_change_was_announced_once_and_in_order(self):
        monitor = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "monitor", "-t", "lifecycle", "-o",
                                    "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(monitor.wait)
        self.addCleanup(monitor.kill)
        self.addCleanup(monitor.stdout.close)
        # The subscription stands when an event of ours arrives.
        seen, own = [], None
        while own is None:
            own = self.daemon.launch()
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{own}", {"force": True}))
            while True:
                event = json.loads(monitor.stdout.readline())["metadata"]
                if event["source"].endswith(own):
                    seen.append(event["action"])
                if event["action"] == "container-removed" and event["source"].endswith(own):
                    break
        self.assertEqual(seen[-5:], ["container-created", "container-scheduled", "container-started", "container-running",
                                     "container-removed"][-len(seen[-5:]):])


if __name__ == "__main__":
    harness.cases.main()

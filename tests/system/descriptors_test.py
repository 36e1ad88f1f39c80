#!/usr/bin/env python3
"""svcd may have fewer files open than its containers need: it refuses, answers, and harms nobody."""
import pathlib
import re

import harness

HARD = 144
LAUNCHES = 32
SMALL = {"cpu": 1, "memory": 32 << 20, "disk_size": 64 << 20}


def soft_limit_of(pid):
    return int(re.search(r"Max open files +(\d+)", pathlib.Path(f"/proc/{pid}/limits").read_text())[1])


class Descriptors(harness.DaemonTest):
    settings = {"cpu_allocation_rate": 64, "memory_allocation_rate": 16}

    def restart(self, files):
        self.daemon.kill()
        self.daemon.files = files
        self.daemon.start()

    def running(self):
        return {c["id"]: harness.pids_of(c["id"])[0] for c in self.daemon.containers() if c["status"] == "running"}

    def test_soft_limit_is_raised_for_svcd_alone(self):
        self.restart((512, 4096))
        self.assertEqual(soft_limit_of(self.daemon.process.pid), 4096)
        id = self.daemon.launch(**SMALL)
        self.assertEqual(soft_limit_of(harness.pids_of(id)[0]), 512)
        self.assertEqual(self.daemon.execute(id, "sh", "-c", "ulimit -n").strip(), "512")
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))

    def test_more_instances_than_fit_harm_nobody(self):
        self.restart((HARD, HARD))
        replies = [self.daemon.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3", **SMALL})
                   for _ in range(LAUNCHES)]
        errors = [record["err"] for record in map(self.daemon.wait, replies) if record["status_code"] != harness.FINAL]
        before = self.running()
        self.assertGreater(len(before), 5)
        self.assertEqual(len(before) + len(errors), LAUNCHES)
        self.assertTrue(errors)
        for error in errors:
            self.assertIn("too many open files", error)
        for container in self.daemon.containers():  # what was refused
            if container["id"] not in before:
                self.assertEqual(container["status"], "error")
                self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{container['id']}"))

        fewer = HARD - 30
        self.restart((fewer, fewer))
        self.assertEqual(self.daemon.api("GET", "/1.0").status, 200)
        self.assertTrue(self.daemon.eventually(
            lambda: any("too many open files" in c.get("error_message", "") for c in self.daemon.containers())))
        self.assertEqual({id: harness.pids_of(id)[0] for id in before}, before)

        self.restart(None)
        self.assertTrue(self.daemon.eventually(lambda: self.running() == before), self.daemon.containers())
        for id in before:
            self.assertEqual(self.daemon.execute(id, "echo", "alive"), "alive\n")
        self.daemon.remove_instances()


if __name__ == "__main__":
    harness.cases.main()

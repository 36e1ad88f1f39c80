#!/usr/bin/env python3
"""svc-lxc, or svc-launch, dies, at any point: no container runs that nobody knows, and the next call works."""
import os
import pathlib
import signal
import unittest

from service import CRASH, Service, harness

RAW = {"image_id": "busybox", "instance_type": "a2.3", "cpu": 1, "memory": 64 << 20, "disk_size": 64 << 20}


POINTS = "monitor." if harness.LAUNCHER == "liblxc" else "launch.monitor_"


class Helped(Service):
    """Its helper takes orders: the daemon passes no environment on."""

    def __init__(self, **settings):
        super().__init__("lxc", **settings)
        self.settings[harness.HELPER_SETTING] = str(self.dir / harness.HELPER)
        self.order()

    def order(self, **environment):
        """What the next helpers are told. With `once` one of them takes it."""
        once = self.dir / "once"
        once.touch()
        words = [f"{name}={value}" for name, value in {**environment, "SVC_FAILPOINT_ONCE": once}.items()]
        helper = self.dir / harness.HELPER
        helper.with_suffix(".new").write_text(f"#!/bin/sh\nexec /usr/bin/env {' '.join(words)} {CRASH}/{harness.HELPER} \"$@\"\n")
        helper.with_suffix(".new").chmod(0o755)
        helper.with_suffix(".new").rename(helper)

    def processes(self):
        """{pid: (parent, state)} of what names this service's folder, but for the daemon itself."""
        found = {}
        for line in harness.processes():
            pid, _, command = line.partition(" ")
            if f"{self.dir}/state/lxc" in command and int(pid) != self.process.pid:
                try:
                    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                    found[int(pid)] = (int(fields[1]), fields[0])
                except OSError:
                    pass
        return found


@unittest.skipUnless(os.geteuid() == 0, "needs root: containers, bridge and mounts")
class Helper(unittest.TestCase):
    def setUp(self):
        self.service = Helped()
        self.addCleanup(self.close)
        self.begin()
        self.service.add_image()

    def begin(self, **environment):
        self.service.kill()
        self.service.start(**environment)

    def close(self):
        try:
            self.assertEqual(self.service.close(), [])
        finally:
            self.service.kill()

    def launch(self):
        reply = self.service.api("POST", "/1.0/containers", RAW)
        self.assertEqual(reply.status, 202)
        return reply, reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]

    def stopped_process(self):
        return self.service.until("a process stops at the failpoint", lambda: [
            (pid, parent) for pid, (parent, state) in self.service.processes().items() if state == "T"])[0]

    def await_failure(self, reply):
        self.service.until("the launch fails", lambda: self.service.api(
            "GET", f"/1.0/operations/{reply.metadata['id']}").metadata["status"] == "Failure")

    def state_of_daemon(self):
        return pathlib.Path(f"/proc/{self.service.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def test_a_failed_start_ends_the_monitor_before_it_looks_at_anything_else(self):
        self.begin(SVC_FAILPOINT="host.killed:2", SVC_FAILPOINT_STOP="1")  # the first one is of the creation
        self.service.order(SVC_FAILPOINT=f"{POINTS}starts:1", SVC_FAILPOINT_STOP="1")
        reply, id = self.launch()
        monitor, helper = self.stopped_process()
        os.kill(helper, signal.SIGKILL)
        self.service.until("the daemon has killed what it knows", lambda: self.state_of_daemon() == "T")
        self.assertNotIn(monitor, self.service.processes())
        self.service.process.send_signal(signal.SIGCONT)
        self.await_failure(reply)
        self.service.succeed(self.service.api("DELETE", f"/1.0/containers/{id}"))

    def go_on(self, process):
        if process in self.service.processes():
            os.kill(process, signal.SIGCONT)

    def check_unknown_monitor(self, point):
        self.service.order(SVC_FAILPOINT=f"{point}:1", SVC_FAILPOINT_STOP=1)
        reply, id = self.launch()
        monitor, helper = self.stopped_process()
        os.kill(helper, signal.SIGKILL)
        self.await_failure(reply)
        self.go_on(monitor)
        self.service.until("nothing of the container runs", lambda: not self.service.processes())
        self.assertEqual(self.service.container(id)["status"], "error")
        self.service.succeed(self.service.api("DELETE", f"/1.0/containers/{id}"))

    def test_a_monitor_without_its_helper_starts_nothing_before_it_is_recorded(self):
        self.check_unknown_monitor(f"{POINTS}forked")

    def test_a_monitor_without_its_helper_starts_nothing_when_it_is_recorded(self):
        self.check_unknown_monitor(f"{POINTS}recorded")

    def test_a_monitor_without_helper_and_daemon_is_ended_by_the_next_daemon(self):
        self.service.order(SVC_FAILPOINT=f"{POINTS}recorded:1", SVC_FAILPOINT_STOP=1)
        reply, id = self.launch()
        monitor, helper = self.stopped_process()
        self.service.process.kill()
        os.kill(helper, signal.SIGKILL)
        self.service.end()
        os.kill(monitor, signal.SIGCONT)
        self.service.start()
        self.assertEqual(self.service.wait(reply)["status"], "Success")
        self.assertEqual(self.service.container(id)["status"], "running")
        self.assertEqual(len(harness.pids_of(id)[:1]), 1)
        self.service.succeed(self.service.api("DELETE", f"/1.0/containers/{id}"))
        self.service.until("nothing of the container runs", lambda: not self.service.processes())


if __name__ == "__main__":
    harness.cases.main()

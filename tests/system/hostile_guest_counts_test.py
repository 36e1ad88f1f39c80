#!/usr/bin/env python3
"""What the kernel counts for a user: a guest that takes all it can get leaves the others theirs."""
import pathlib

import harness
from hostile_guest import HostileGuestTest, Hoard

MOST_GROUPS = 4096


class HostileGuestCounts(HostileGuestTest):
    def both_get(self, kind, least, **more):
        with Hoard(self.daemon, self.one, kind, **more) as first, Hoard(self.daemon, self.other, kind, **more) as second:
            self.assertGreaterEqual(first.count, least, first.reason)
            self.assertGreaterEqual(second.count, least, second.reason)

    def test_what_one_guest_takes_another_gets_as_well(self):
        limit = int(pathlib.Path("/proc/sys/fs/inotify/max_user_instances").read_text())
        for kind, least in (("inotify", limit - 10), ("queues", 5), ("segments", 4000), ("locked", 50), ("signals", 1000)):
            with self.subTest(kind=kind):
                self.both_get(kind, least)

    def test_watches(self):
        limit = int(pathlib.Path("/proc/sys/fs/inotify/max_user_watches").read_text())
        if limit > 1 << 20:
            self.skipTest("more watches than a test should make")
        with Hoard(self.daemon, self.one, "watches"):
            with Hoard(self.daemon, self.other, "watches", 1000) as second:
                self.assertEqual(second.count, 1000, second.reason)

    def test_keys_and_pipes(self):
        ranges = {self.daemon.execute(id, "cat", "/proc/self/uid_map").split()[1] for id in (self.one, self.other)}
        if len(ranges) == 1:
            self.skipTest("needs a range of ids for each instance")
        self.both_get("keys", 100)
        self.both_get("pipes", 10)

    def test_a_guest_boots_and_serves_while_another_holds_all_it_can_get(self):
        with Hoard(self.daemon, self.one, "inotify"), Hoard(self.daemon, self.one, "queues"), \
             Hoard(self.daemon, self.one, "signals"), Hoard(self.daemon, self.one, "uts-namespaces"), \
             Hoard(self.daemon, self.one, "user-namespaces", 3000):
            third = self.daemon.launch()
            self.assertIn("it works", self.daemon.execute(third, "cat", "/srv/index.html"))
            with Hoard(self.daemon, third, "user-namespaces", 500) as more:
                self.assertEqual(more.count, 500, more.reason)
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{third}", {"force": True}))

    def test_processes_end_at_the_instances_limit(self):
        with Hoard(self.daemon, self.one, "processes") as bomb:
            self.assertLess(bomb.count, 4096)
            self.everything_is_well()

    def takes_commands(self, id):
        return self.daemon.ctl("exec", id, "--", "true").returncode == 0

    def test_it_gets_its_namespace_again_when_it_restarts_itself(self):
        before = harness.pids_of(self.one)[0]
        self.shell(self.one, "(sleep 0.1; reboot -f) </dev/null >/dev/null 2>&1 &")
        self.assertTrue(self.daemon.eventually(lambda: harness.pids_of(self.one)[:1] not in ([], [before]) and self.takes_commands(self.one)))
        self.both_get("inotify", 100)

    def test_control_groups_that_it_makes(self):
        """Their number is limited, or it cannot make any: each takes memory of the machine."""
        self.shell(self.one, "mkdir -p /tmp/groups; mount -t cgroup2 cgroup2 /tmp/groups")
        with Hoard(self.daemon, self.one, "groups", MOST_GROUPS + 100, GROUP="/tmp/groups") as bomb:
            self.assertLessEqual(bomb.count, MOST_GROUPS)
        for controller in ("memory", "pids", "freezer", "cpu", "cpuset", "blkio", "devices"):
            self.shell(self.one, f"mkdir -p /tmp/{controller}; mount -t cgroup -o {controller} cgroup /tmp/{controller}")
            with Hoard(self.daemon, self.one, "groups", 10, GROUP=f"/tmp/{controller}") as bomb:
                self.assertEqual(bomb.count, 0, controller)
        self.renew()

    def test_one_that_has_frozen_itself_can_be_deleted(self):
        self.shell(self.one, "mkdir -p /tmp/f; mount -t cgroup -o freezer cgroup /tmp/f && mkdir /tmp/f/ice && "
                   "echo 1 >/tmp/f/ice/cgroup.procs && echo FROZEN >/tmp/f/ice/freezer.state")
        self.renew()

    def test_one_that_the_operator_has_frozen_can_be_deleted(self):
        group = self.group(self.one, "freezer")
        if not group:
            self.skipTest("needs control groups of version 1")
        (group / "freezer.state").write_text("FROZEN")
        self.renew()

    def test_control_groups_that_are_nested_deeply(self):
        name = "n" * 250
        self.shell(self.one, "mkdir -p /tmp/groups; mount -t cgroup2 cgroup2 /tmp/groups; cd /tmp/groups; "
                   f"for i in $(seq 30); do mkdir {name} && cd {name} || break; done")
        self.renew()


if __name__ == "__main__":
    harness.cases.main()

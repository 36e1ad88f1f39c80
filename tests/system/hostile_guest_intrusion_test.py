#!/usr/bin/env python3
"""Root inside an instance is nobody outside: what only the machine's root may do fails, one by one."""
import re

import harness
from hostile_guest import HostileGuestTest

# What belongs to the guest's own namespaces.
OWN = re.compile(r"could write (/tmp)?(/proc/sys/(net|user|fs/mqueue)/|"
                 r"/proc/sys/kernel/(auto_msgmni|msg\w+|sem|sem_next_id|shm\w+|ns_last_pid|pid_max|msg_next_id|shm_next_id)$|"
                 r"/sys/devices/virtual/net/|/sys/fs/cgroup/)")


class HostileGuestIntrusion(HostileGuestTest):
    def test_nothing_of_the_machines_root_can_be_done(self):
        said = self.daemon.execute(self.one, "intruder").splitlines()
        self.assertEqual(said[-1:], ["end"])
        self.assertEqual([line for line in said[:-1] if not OWN.match(line)], [])
        self.renew()

    def test_no_descriptor_of_the_machine_is_open_inside(self):
        listing = self.shell(self.one, "for p in /proc/[0-9]*; do readlink $p/fd/*; done")
        for target in listing.splitlines():
            self.assertRegex(target, r"^(/dev/(pts/\d+|console|null|tty\d*)|/proc.*|socket:.*|pipe:.*|anon_inode:.*|/bin/\w+)$")

    def test_limits_cannot_be_changed_from_inside(self):
        before = self.limits()
        self.shell(self.one, """mkdir -p /tmp/a; mount -t cgroup2 cgroup2 /tmp/a
            for c in memory pids cpu cpuset blkio freezer devices; do mkdir -p /tmp/a$c; mount -t cgroup -o $c cgroup /tmp/a$c; done
            for f in /tmp/a*/*max /tmp/a*/*limit_in_bytes /tmp/a*/*quota_us /tmp/a*/cgroup.max*; do echo max >$f; echo -1 >$f; done
            for f in /tmp/a*/release_agent /tmp/a*/devices.allow; do echo /bin/sh >$f; done
            for g in /tmp/a*; do echo 1 >$g/../cgroup.procs; echo 1 >$g/notify_on_release; done""")
        self.assertEqual(self.limits(), before)
        self.renew()

    def limits(self):
        pid = harness.pids_of(self.one)[0]
        return {controller: harness.cgroup_value(pid, controller, *names) for controller, names in
                {"memory": ("memory.limit_in_bytes", "memory.max"), "pids": ("pids.max",),
                 "cpu": ("cpu.cfs_quota_us", "cpu.max")}.items()}


if __name__ == "__main__":
    harness.cases.main()

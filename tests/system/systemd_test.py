#!/usr/bin/env python3
"""Debian with systemd as a guest of each launcher: it boots with the same units, restarts itself and powers itself off."""
import shutil
import unittest

import harness


class Systemd(harness.DaemonTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which("mmdebstrap"):
            cls.daemon.close()
            raise unittest.SkipTest("needs mmdebstrap: systemd comes from Debian")
        cls.daemon.add_image("debian", harness.debian_image("gpsd"))

    def setUp(self):
        self.addCleanup(self.daemon.remove_instances)

    def choose(self, launcher):
        self.daemon.settings["lxc_launcher"] = launcher
        self.daemon.restart()

    def ctl(self, id, *command):
        """Whatever its status: systemctl has one for each state."""
        return self.daemon.ctl("exec", id, "--", *command).stdout.decode()

    def booted(self, id, other_than=""):
        """The boot's id, when all units have been started or have failed."""
        found = []

        def is_up():
            found[:] = [self.ctl(id, "cat", "/proc/sys/kernel/random/boot_id").strip()]
            state = self.ctl(id, "systemctl", "is-system-running").strip()
            return found[0] not in ("", other_than) and state in ("running", "degraded")
        self.assertTrue(self.daemon.eventually(is_up), self.ctl(id, "systemctl", "list-jobs"))
        return found[0]

    def units(self, id):
        return sorted(line.split()[0] for line in self.ctl(
            id, "systemctl", "list-units", "--failed", "--plain", "--no-legend").splitlines())

    def life(self, launcher):
        """The units that fail. The guest restarts itself and then ends."""
        self.choose(launcher)
        id = self.daemon.launch("debian")
        first = self.booted(id)
        failed = self.units(id)
        self.ctl(id, "systemctl", "--no-block", "reboot")
        self.booted(id, first)
        self.assertEqual(self.units(id), failed)
        self.assertEqual(self.daemon.container(id)["status"], "running")
        self.ctl(id, "systemctl", "--no-block", "poweroff")
        self.assertTrue(self.daemon.eventually(lambda: all(c["id"] != id or c["status"] != "running" for c in self.daemon.containers())))
        return failed

    def test_a_guest_boots_restarts_and_ends_whichever_launcher_has_started_it(self):
        self.assertEqual(self.life("own"), self.life("liblxc"))


if __name__ == "__main__":
    harness.cases.main()

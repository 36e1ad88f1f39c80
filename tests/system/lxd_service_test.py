#!/usr/bin/env python3
"""svcd over an LXD: what differs from the containers of lxc, and what deaths of LXD and of svcd leave."""
import os
import pathlib
import pty
import signal
import subprocess

import harness
from harness import hook

LXD = b"lxd\0--group\0root\0"


def lxd_pid(folder):
    """Each LXD of a cluster has a folder of its own."""
    mark = f"LXD_DIR={folder}\0".encode()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            process = pathlib.Path("/proc", entry)
            if (process / "cmdline").read_bytes() == LXD and mark in (process / "environ").read_bytes() + b"\0":
                return int(entry)
        except OSError:
            pass
    raise AssertionError("no LXD runs")


def start_lxd(folder):
    with open(folder + ".log", "ab") as log:
        subprocess.Popen(["lxd", "--group", "root"], env={**os.environ, "LXD_DIR": folder}, stdin=subprocess.DEVNULL, stdout=log,
                         stderr=log, start_new_session=True)


def kill_lxd():
    """LXD dies as by the kernel's hand, and is started again."""
    os.kill(lxd_pid(os.environ["LXD_DIR"]), signal.SIGKILL)
    start_lxd(os.environ["LXD_DIR"])
    subprocess.run(["lxd", "waitready", "--timeout=60"], check=True, capture_output=True, timeout=harness.PATIENCE)


class OverLxd(harness.DaemonTest):
    runtime = "lxd"

    @classmethod
    def setUpClass(cls):
        if "SVC_LXD_SOCKET" not in os.environ:
            raise harness.unittest.SkipTest("needs support/lxd_machine")
        super().setUpClass()

    def setUp(self):
        self.addCleanup(self.daemon.remove_instances)

    def in_terminal(self, id, script):
        """What a command in a terminal printed, and its exit code."""
        outer, inner = pty.openpty()
        with subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", id, "--", "sh", "-c", script],
                              stdin=inner, stdout=inner, stderr=inner) as ctl:
            os.close(inner)
            text = b""
            try:
                while part := os.read(outer, 65536):
                    text += part
            except OSError:
                pass  # the terminal's other end is closed
            os.close(outer)
            return text, ctl.wait(harness.PATIENCE)

    def agents(self, id):
        script = "for f in /proc/[0-9]*/cmdline; do [ \"$(tr '\\0' ' ' <$f 2>/dev/null)\" = '%s ' ] && echo $f; done; true"
        return {line.split("/")[2] for line in self.daemon.execute(id, "sh", "-c", script % harness.AGENT_INSIDE).split()}

    def test_a_terminal_gives_all_that_the_command_wrote(self):
        id = self.daemon.launch()
        for _ in range(15):
            text, code = self.in_terminal(id, "seq 1 400; echo end; exit 5")
            self.assertEqual((text.split()[-2:], code), ([b"400", b"end"], 5))

    def test_a_child_in_the_background_does_not_hold_its_command(self):
        id = self.daemon.launch()
        self.daemon.execute(id, "sh", "-c", "sleep 731559 & echo left")
        self.assertIn("731559", self.daemon.execute(id, "ps"))

    def test_a_command_that_is_not_there_differs_from_one_that_says_so(self):
        id = self.daemon.launch()
        self.assertEqual(self.daemon.ctl("exec", id, "--", "sh", "-c", "exit 127").returncode, 127)
        self.assertIn(b"not found", self.daemon.ctl("exec", id, "--", "/no/such").stderr)

    def test_an_agent_that_was_killed_is_started_again(self):
        id = self.daemon.launch()
        before = self.agents(id)
        self.assertEqual(len(before), 1)
        self.daemon.execute(id, "kill", "-9", *before)
        self.assertTrue(self.daemon.eventually(lambda: len(self.agents(id) - before) == 1))

    def test_hooks_run_before_the_guest(self):
        self.addCleanup(lambda: [self.daemon.remove(url) for url in self.daemon.api("GET", "/1.0/applications").metadata])
        app = self.daemon.create_app({"manifest.yaml": "name: hooked\n", "hooks/pre-start": hook("echo $$ >>/srv/before")})
        self.assertEqual(len(self.daemon.execute(self.daemon.launch_app(app), "cat", "/srv/before").split()), 2)

    def test_an_instance_outlives_svcd_and_lxd(self):
        id = self.daemon.launch()
        before = self.daemon.execute(id, "cat", "/proc/1/stat")
        self.daemon.restart()
        kill_lxd()
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.ctl("exec", id, "--", "true").returncode == 0))
        self.assertEqual(self.daemon.execute(id, "cat", "/proc/1/stat").split()[21], before.split()[21])
        self.assertEqual(self.daemon.container(id)["status"], "running")

    def test_a_launch_during_which_lxd_dies_ends_and_leaves_nothing(self):
        """Whatever it was doing then: the operation ends, and the next launch is not in its way."""
        for status in ("prepared", "started"):
            reply = self.daemon.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3"})
            id = reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]
            self.daemon.ctl("wait", id, "-c", f"status={status}", "-t", "60s")
            kill_lxd()
            self.daemon.wait(reply)
            self.daemon.remove(f"/1.0/containers/{id}")
            self.daemon.execute(self.daemon.launch(), "true")
            self.daemon.remove_instances()
            self.assertEqual(self.instances(), "")

    def test_commands_are_refused_without_a_quorum_and_work_with_it_again(self):
        if "SVC_LXD_OTHER_SOCKET" not in os.environ:
            self.skipTest("needs a cluster")
        id = self.daemon.launch()
        first = os.environ["LXD_DIR"].removesuffix("-m2")
        folders = [first, first + "-m3"]
        for folder in folders:
            os.kill(lxd_pid(folder), signal.SIGKILL)
        for text in (b"no available dqlite leader", b"too few members"):
            self.assertIn(text, self.daemon.ctl("exec", id, "--", "true").stderr)
        self.assertEqual(self.daemon.container(id)["status"], "running")
        for folder in folders:
            start_lxd(folder)
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.ctl("exec", id, "--", "true").returncode == 0))

    @staticmethod
    def instances():
        return subprocess.run(["lxc", "list", "-f", "csv", "-c", "n"], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    harness.cases.main()

"""What the tests of hostile guests have in common: instances with programs inside that do as much harm as they can."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import harness

PROGRAMS = [harness.BUILD / f"tests/system/svc-test-{name}" for name in ("hoarder", "intruder")]


class HostileGuestTest(harness.DaemonTest):
    """`one` and `other` run in each test; the first is the hostile one."""
    resources = {}

    @classmethod
    def prepare(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-test-hostile-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        def with_programs(rootfs):
            for program in PROGRAMS:
                shutil.copy(program, rootfs / "bin" / program.name.rsplit("-", 1)[1])
        cls.daemon.add_image("busybox", harness.changed_image(folder, with_programs))
        cls.one, cls.other = cls.daemon.launch(**cls.resources), cls.daemon.launch(**cls.resources)

    def setUp(self):
        self.addCleanup(self.everything_is_well)

    def everything_is_well(self):
        """The other instance, the daemon and the machine are as before."""
        self.assertEqual(self.daemon.container(self.other)["status"], "running")
        self.assertIn("it works", self.daemon.execute(self.other, "cat", "/srv/index.html"))

    def shell(self, id, script, **options):
        """Runs a script inside; what it printed, whether it failed or not."""
        return self.daemon.ctl("exec", id, "--", "sh", "-c", script, **options).stdout.decode(errors="replace")

    def has_room(self):
        """The file system frees the blocks and inodes of files some time after they were removed."""
        room = os.statvfs(self.daemon.state)
        return room.f_bavail * room.f_frsize > 32 << 20 and room.f_favail > 1000

    def renew(self):
        """Another hostile instance in place of the first, which must be deletable whatever it did."""
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{self.one}", {"force": True}))
        self.assertTrue(self.daemon.eventually(self.has_room))
        type(self).one = self.daemon.launch(**self.resources)

    def group(self, id, controller):
        """The folder of the instance's control group."""
        for line in pathlib.Path(f"/proc/{harness.pids_of(id)[0]}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                return pathlib.Path(f"/sys/fs/cgroup/{controller}{path}")
        return None


class Hoard:
    """Holds all that an instance can get of a kind, until the end of the block; `count` is how many."""

    def __init__(self, daemon, id, kind, most=None, **environment):
        words = [f"{name}={value}" for name, value in environment.items()]
        self.command = [harness.SVCCTL, "--socket", daemon.socket, "exec", id, "--", "env", *words, "hoarder", kind,
                        *([str(most)] if most else [])]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        if not line:
            raise AssertionError(f"{self.command}: {self.process.stderr.read().decode()}")
        self.count, self.reason = int(line.split()[0]), line.split(maxsplit=1)[1].strip()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=harness.PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()

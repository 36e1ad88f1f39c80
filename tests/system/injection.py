"""What the tests of injection share: an instance, `svcctl instance` from outside, svc-guest-cat inside."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import threading

import harness

PATIENCE = harness.PATIENCE
CAT_INSIDE = "/bin/svc-guest-cat"
USERS = {"root": 0, "user": 1000, "somebody": 2000}
METADATA = "architecture: {machine}\ncreation_date: 1\nproperties:\n  os: busybox\n  ready_port: 80\n{more}"


def image(folder, more=""):
    """The busybox image with svc-guest-cat; `more` lines of its properties."""
    def add_reader(rootfs):
        shutil.copy(harness.GUEST_CAT, rootfs / CAT_INSIDE[1:])
        (rootfs / "etc/passwd").write_text("".join(
            f"{name}:x:{id}:{id}::/:/bin/sh\n" for name, id in USERS.items()))
        (rootfs / "etc/group").write_text("".join(f"{name}:x:{id}:\n" for name, id in USERS.items()))
    return harness.changed_image(folder, add_reader, METADATA.format(machine=os.uname().machine, more=more))


class Reader:
    """svc-guest-cat in the instance: its lines as they come."""

    def __init__(self, test, id, *words):
        self.process = subprocess.Popen(
            [harness.SVCCTL, "--socket", test.daemon.socket, "exec", id, "--", CAT_INSIDE, *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.guard = threading.Timer(2 * PATIENCE, self.process.kill)  # a test that waits in vain fails
        self.guard.start()
        test.addCleanup(self.close)

    def line(self):
        """The next one; fails when the reader ends instead."""
        line = self.process.stdout.readline()
        assert line, f"the reader ended: {self.process.wait(PATIENCE)} {self.process.stderr.read()}"
        return line.rstrip("\n")

    def until(self, condition, attempts=2000):
        """The first line for which the condition holds."""
        for _ in range(attempts):
            line = self.line()
            if condition(line):
                return line
        raise AssertionError(f"not among {attempts} lines; the last one: {line}")

    def rest(self):
        """All lines until it ends by itself."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, err
        return out.splitlines()

    def close(self):
        self.guard.cancel()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()


class InjectionTest(harness.DaemonTest):
    properties, launch_fields = "", {}

    @classmethod
    def prepare(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.daemon.add_image("busybox", image(folder, cls.properties))

    def setUp(self):
        self.addCleanup(self.daemon.remove_instances)
        self.id = self.daemon.launch(**self.launch_fields)

    def instance(self, noun, verb, *words, status=0, **options):
        """`svcctl instance`: its answer, or the text on standard error when another status is expected."""
        result = self.daemon.ctl("instance", noun, verb, self.id, *map(str, words), **options)
        self.assertEqual(result.returncode, status, result)
        if status:
            return result.stderr.decode()
        return json.loads(result.stdout) if result.stdout.strip() else None

    def eventually(self, condition):
        self.assertTrue(self.daemon.eventually(condition), self.daemon.log())

    def reader(self, *words):
        return Reader(self, self.id, *words)

    def execute(self, *command):
        return self.daemon.execute(self.id, *command)

    def execute_as(self, user, *command):
        """The status, and what the command printed."""
        result = self.daemon.ctl("exec", self.id, "--", "su", user, "-c", shlex.join(map(str, command)))
        return result.returncode, result.stdout.decode() + result.stderr.decode()

    def as_instance_root(self):
        """A command's beginning: the machine's programs and files, with the rights of the instance's root."""
        return ["nsenter", "--user", "--setuid", "0", "--setgid", "0", "--target", str(self.init())]

    def init(self):
        """The host's pid of the instance's first process."""
        return harness.pids_of(self.id)[0]

    def inside(self, path):
        """A path of the instance as its root sees it from the machine."""
        return f"/proc/{self.init()}/root{path}"

    def kill_agent(self):
        """Kills the agent as nothing can be prepared for, and waits for the next one."""
        before = self.execute("pidof", "svc-agent").split()
        self.execute("kill", "-9", *before)
        ctl = [harness.AGENT_INSIDE, "ctl", "location", "show"]
        self.eventually(lambda: self.daemon.ctl("exec", self.id, "--", *ctl).returncode == 0)
        self.assertNotEqual(self.execute("pidof", "svc-agent").split(), before)


def scratch(test):
    """A folder until the test ends."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)

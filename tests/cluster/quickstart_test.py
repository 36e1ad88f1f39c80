#!/usr/bin/env python3
"""`./quickstart --cluster` from the built tree: an instance on each machine, twice the same, and nothing left after --stop."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import machines  # noqa: E402
from machines import harness  # noqa: E402

NODES = ["m1", "m2", "m3"]


def missing():
    if pathlib.Path("/run/svc/quickstart.pid").exists():
        return "a quickstart runs on this machine, and --stop would remove it"
    return machines.missing(lxd=True) or next((f"needs {name}" for name in ("jq", "curl") if not shutil.which(name)), None)


@unittest.skipIf(missing(), missing())
class Quickstart(unittest.TestCase):
    def setUp(self):
        self.name = f"q{os.getpid() % 100000}"
        self.dir = pathlib.Path("/var/tmp") / self.name
        tools = tempfile.mkdtemp(prefix="svc-test-tools-")
        self.addCleanup(shutil.rmtree, tools)
        ninja = pathlib.Path(tools) / "ninja"  # what is built is tested, not built again
        ninja.write_text("#!/bin/sh\nexit 0\n")
        ninja.chmod(0o755)
        self.environment = {**os.environ, "SVC_BUILD_DIR": str(harness.BUILD), "SVC_CLUSTER_NAME": self.name,
                            "SVC_CLUSTER_NET": harness.free_net().rsplit(".", 1)[0], "PATH": f"{tools}:{os.environ['PATH']}"}
        self.mounts = harness.mounts()
        self.addCleanup(self.run_quickstart, "--stop")

    def run_quickstart(self, option):
        done = subprocess.run([harness.ROOT / "quickstart", option], env=self.environment, capture_output=True, text=True, timeout=600,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(0, done.returncode, f"{done.stdout}\n{done.stderr}\n{self.logs()}")
        return done.stdout

    def logs(self):
        return "\n".join(f"{log}:\n{log.read_text(errors='replace')[-2000:]}" for log in sorted(self.dir.glob("*/svcd.log")))

    def instances(self, number):
        """What manager `number` says: node -> id of what runs there."""
        shown = subprocess.run([harness.SVCCTL, "--socket", self.dir / str(number) / "unix.socket", "list", "--format", "json"],
                               capture_output=True, text=True, timeout=60, check=True)
        return {record["node"]: record["id"] for record in json.loads(shown.stdout) if record["status"] == "running"}

    def left(self):
        found = [f"folder {self.dir}"] if self.dir.exists() else []
        found += [f"file /run/{self.name}.rig"] if pathlib.Path(f"/run/{self.name}.rig").exists() else []
        found += [f"device {device}" for device in os.listdir("/sys/class/net") if device.startswith(self.name)]
        found += [f"group {group}" for pattern in ("", "*/") for group in pathlib.Path("/sys/fs/cgroup").glob(f"{pattern}{self.name}*")]
        found += [f"mount {mount}" for mount in harness.mounts() - self.mounts if self.name in mount]
        return found + [f"process {process}" for process in harness.processes() if f"/{self.name}/" in process]

    def check(self, option):
        shown = self.run_quickstart(option)
        self.assertEqual(3, shown.count("hello from an application"), shown)
        instances = self.instances(1)
        self.assertEqual(NODES, sorted(instances))
        for number in (2, 3):
            self.assertEqual(instances, self.instances(number))
        self.assertNotEqual([], self.left(), "left() sees nothing while the cluster runs")
        self.run_quickstart(option)
        self.assertEqual(instances, self.instances(1), "the second run is not the first one's cluster")
        self.run_quickstart("--stop")
        self.assertEqual([], self.left())

    def test_lxd_runs_an_instance_on_each_machine_and_stop_leaves_nothing(self):
        self.check("--cluster")

    @unittest.skipUnless(os.environ.get("SVC_TEST_LONG"), "takes as long again; SVC_TEST_LONG=1")
    def test_and_so_does_lxc(self):
        self.check("--cluster=lxc")


if __name__ == "__main__":
    cases.main()

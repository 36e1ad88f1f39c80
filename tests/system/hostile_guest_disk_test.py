#!/usr/bin/env python3
"""A guest that fills what it can: its disk, memory, the daemon's store and logs."""
import json
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import harness
from hostile_guest import HostileGuestTest, Hoard

MIB = 1 << 20


def resident(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) * 1024


class SmallDisk(HostileGuestTest):
    """The state directory is on a file system of its own that a guest can fill."""
    options, resources = [], {"disk_size": 32 * MIB}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="svc-test-disk-", dir="/var/tmp")
        cls.addClassCleanup(subprocess.run, ["rm", "-rf", cls.folder, cls.folder + ".img"])
        for command in (["truncate", "-s", "400M", cls.folder + ".img"], ["mkfs.ext4", "-q", *cls.options, cls.folder + ".img"],
                        ["mount", "-o", cls.mount_options(), cls.folder + ".img", cls.folder]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise unittest.SkipTest(f"needs {cls.needs}: {done.stderr.splitlines()[0]}")
        cls.addClassCleanup(subprocess.run, ["umount", cls.folder], check=True)
        pathlib.Path(cls.folder).chmod(0o711)
        cls.parent = cls.folder
        super().setUpClass()

    needs = "loop devices"

    @classmethod
    def mount_options(cls):
        return "loop"


class FullDisk(SmallDisk):
    def test_a_guest_that_fills_the_disk_can_be_deleted_and_others_launched(self):
        self.shell(self.one, "dd if=/dev/zero of=/srv/fill bs=1M; dd if=/dev/zero of=/srv/more bs=1k; :")
        for call in (("GET", "/1.0/containers?recursion=1"), ("GET", "/1.0/operations")):
            self.assertEqual(self.daemon.api(*call).status, 200)
        self.everything_is_well()
        self.renew()
        self.assertEqual(self.daemon.container(self.one)["status"], "running")

    def test_a_guest_that_uses_up_the_inodes_can_be_deleted_and_others_launched(self):
        with Hoard(self.daemon, self.one, "files") as bomb:
            self.assertGreater(bomb.count, 1000)
            self.everything_is_well()
        self.renew()
        self.assertEqual(self.daemon.container(self.one)["status"], "running")


class Quota(SmallDisk):
    options = ["-O", "quota,project"]
    needs = "project quotas of ext4 (CONFIG_QFMT_V2)"

    @classmethod
    def mount_options(cls):
        return "loop,prjquota"

    def test_bytes_and_files_end_at_the_limit_of_the_disk(self):
        id = self.daemon.launch(disk_size=64 * MIB)
        self.shell(id, "dd if=/dev/zero of=/srv/fill bs=1M count=200; :")
        size = int(self.daemon.execute(id, "stat", "-c", "%s", "/srv/fill"))
        self.assertLessEqual(size, 64 * MIB)
        self.shell(id, "rm /srv/fill")
        with Hoard(self.daemon, id, "files") as bomb:
            self.assertLessEqual(bomb.count, 4096)  # 64 MB / 16 KB
            self.assertGreater(bomb.count, 3000)


class OperatorsLimits(HostileGuestTest):
    settings = {"io_write_bytes": "4MB", "io_reads": 5000, "swap_rate": 0.5, "bytes_per_file": "8kB"}

    def value(self, controller, *names):
        return harness.cgroup_value(harness.pids_of(self.one)[0], controller, *names)

    def details(self):
        node = self.daemon.api("GET", "/1.0/nodes?recursion=1").metadata[0]
        return json.dumps(node)

    def test_writes_are_as_slow_as_the_operator_wants(self):
        if "not on one disk" in self.details() or "no control groups for it" in self.details():
            self.skipTest("needs control groups that limit reads and writes")
        self.assertIn(str(4 * MIB), self.value("blkio", "blkio.throttle.write_bps_device", "io.max"))
        began = time.monotonic()
        self.daemon.execute(self.one, "dd", "if=/dev/zero", "of=/srv/fill", "bs=1M", "count=8", "oflag=direct")
        self.assertGreater(time.monotonic() - began, 1)

    def test_swap_ends_at_the_share_of_the_memory(self):
        group = self.group(self.one, "memory")
        if group and not (group / "memory.memsw.limit_in_bytes").exists():
            self.skipTest("the kernel does not count swapped memory")
        both = self.value("memory", "memory.memsw.limit_in_bytes", "memory.swap.max")
        self.assertIn(int(both), (9 * (1 << 29), 3 * (1 << 29)))  # 3 GB of memory and a half of it, or the half


class HostileGuestFilling(HostileGuestTest):
    def test_memory_that_no_process_has(self):
        """Files in memory count for the instance, whose processes are killed for them."""
        id = self.daemon.launch(memory=64 * MIB)
        self.shell(id, "mkdir /m; mount -t tmpfs -o size=1g tmpfs /m; dd if=/dev/zero of=/m/fill bs=1M count=300; :")
        pids = harness.pids_of(id)
        if pids:
            peak = int(harness.cgroup_value(pids[0], "memory", "memory.max_usage_in_bytes", "memory.peak"))
            self.assertLessEqual(peak, 64 * MIB)
        self.daemon.remove(f"/1.0/containers/{id}")

    def test_output_without_end(self):
        """The daemon passes on what a command prints, and keeps nothing of it."""
        command = [harness.SVCCTL, "--socket", self.daemon.socket, "exec", self.one, "--", "sh", "-c",
                   "head -c 300000000 /dev/zero; head -c 100000000 /dev/zero >&2"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
        self.assertLess(resident(self.daemon.process.pid), 150 * MIB)

    def test_a_console_that_is_flooded_while_it_runs(self):
        self.shell(self.one, "head -c 30000000 /dev/zero | tr '\\0' x >/dev/console")
        log = self.daemon.state / f"lxc/containers/{self.one}/console.log"
        self.assertLessEqual(log.stat().st_size, 2 * MIB)

    def test_folders_that_are_nested_deeply(self):
        self.shell(self.one, "cd /srv; for i in $(seq 3000); do mkdir dddddddddddd && cd dddddddddddd || break; done")
        self.renew()

    def test_reports_as_fast_as_they_go(self):
        """With the instance's token, on many connections; the operator is served all the while."""
        token = json.loads(self.daemon.execute(self.one, "cat", "/var/lib/svc-agent/session.json"))["token"]
        taken = []

        def flood():
            connection = harness.UnixConnection(self.daemon.state / "agent/server.unix")
            for number in range(100):
                body = json.dumps({"notes": [f"{number}"], "x" * 1000: [0] * 1000})
                connection.request("PATCH", f"/1.0/containers/{self.one}", body, {"Authorization": f"bearer {token}"})
                answer = connection.getresponse()
                answer.read()
                taken.append(answer.status)
            connection.close()
        threads = [threading.Thread(target=flood) for _ in range(30)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.assertEqual(self.daemon.api("GET", "/1.0/containers").status, 200)
        self.assertEqual(len(taken), 3000)
        self.assertIn(200, taken)
        self.assertLess(len(self.daemon.api("GET", f"/1.0/containers/{self.one}").raw), 2 * MIB)
        self.assertLess(resident(self.daemon.process.pid), 150 * MIB)
        self.renew()

    def test_pipes_sockets_and_endless_files_where_logs_are_looked_for(self):
        self.shell(self.one, "cd /var/lib/svc-agent/logs && rm -f * && mkfifo agent.log && ln -s /dev/zero hooks.log; "
                   "mknod streamer.log c 0 0; mount --bind /dev/zero streamer.log; kill -9 1")
        self.daemon.wait(self.daemon.api("PATCH", f"/1.0/containers/{self.one}", {"desired_status": "stopped"}))
        for name in self.daemon.container(self.one)["stored_logs"] or []:
            self.assertLess(len(self.daemon.api("GET", f"/1.0/containers/{self.one}/logs/{name}").raw), 17 * MIB)
        self.renew()


if __name__ == "__main__":
    harness.cases.main()

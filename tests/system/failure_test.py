#!/usr/bin/env python3
"""What goes wrong on real containers: the right text, the right code, nothing left behind."""
import io
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

import harness


class FailureTest(harness.DaemonTest):
    def add_changed(self, name, change, metadata=None):
        with tempfile.TemporaryDirectory() as folder:
            self.daemon.add_image(name, harness.changed_image(folder, change, metadata))

    def launch_fails(self, image, **fields):
        body = {"image_id": image, "instance_type": "a2.3", **fields}
        reply = self.daemon.api("POST", "/1.0/containers", body)
        record = self.daemon.wait(reply)
        self.assertEqual(record["status_code"], 400)
        self.assertTrue(record["err"])
        return record["err"], reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]

    def check_error_record(self, id, text):
        record = self.daemon.container(id)
        self.assertEqual((record["status"], record["status_code"]), ("error", -1))
        self.assertIn(text, record["error_message"])
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))
        self.assertEqual(self.daemon.api("GET", f"/1.0/containers/{id}").status, 404)


class Failure(FailureTest):
    def test_image_without_init(self):
        self.add_changed("no-init", lambda rootfs: (rootfs / "sbin/init").unlink())
        text, id = self.launch_fails("no-init")
        self.assertIn("init", text)
        self.check_error_record(id, "init")

    def test_init_that_exits_at_once(self):
        def change(rootfs):
            (rootfs / "sbin/init").unlink()
            (rootfs / "sbin/init").write_text("#!/bin/sh\nexit 3\n")
            (rootfs / "sbin/init").chmod(0o755)

        self.add_changed("exits", change)
        _, id = self.launch_fails("exits")
        self.check_error_record(id, "init")

    def test_more_memory_than_there_is(self):
        text, id = self.launch_fails("busybox", memory=1 << 50)
        self.assertIn("No suitable node to satisfy container requirement available", text)
        self.assertIn("memory", text)
        self.assertEqual(self.daemon.api("GET", f"/1.0/containers/{id}").status, 404)

    def test_unknown_image(self):
        reply = self.daemon.api("POST", "/1.0/containers", {"image_id": "nope", "instance_type": "a2.3"})
        self.assertEqual((reply.status, reply.error), (404, "image not found"))


class Silence(FailureTest):
    """The limit is long enough for a busy machine to start the instance, whose agent then has nothing to report."""
    settings = {"boot_timeout": "15s"}

    def test_agent_that_never_reports(self):
        metadata = "architecture: x86_64\ncreation_date: 1\nproperties: {ready_file: /never}\n"
        self.add_changed("silent", lambda rootfs: None, metadata)
        text, id = self.launch_fails("silent")
        self.assertRegex(text, "did not report|not ready")
        logs = self.daemon.api("GET", f"/1.0/containers/{id}/logs").metadata
        self.assertIn(f"/1.0/containers/{id}/logs/console.log", logs)
        self.assertEqual(self.daemon.api("GET", logs[0]).status, 200)
        self.check_error_record(id, "")


class Hostile(harness.DaemonTest):
    """Packages that try to write elsewhere."""
    @classmethod
    def prepare(cls):
        pass

    def refused(self, name, package):
        reply = self.daemon.upload_image(name, package)
        text = reply.error if reply.status == 400 else self.daemon.wait(reply)["err"]
        self.assertTrue(text)
        self.assertEqual(self.daemon.api("GET", f"/1.0/images/{name}").status, 404, text)
        self.assertEqual(os.listdir(self.daemon.state / "lxc/layers"), [])
        return text

    def packed(self, folder, *arguments):
        package = pathlib.Path(folder) / "bad.tar.gz"
        subprocess.run(["tar", "-C", folder, "-czPf", package, *arguments], check=True)
        return package

    def make_tree(self, folder):
        rootfs = pathlib.Path(folder) / "rootfs"
        (rootfs / "sbin").mkdir(parents=True)
        (rootfs / "sbin/init").write_text("#!/bin/sh\n")
        (pathlib.Path(folder) / "metadata.yaml").write_text("architecture: x86_64\ncreation_date: 1\n")
        return rootfs

    def test_entries_that_leave_the_tree(self):
        for transform in ("s,^rootfs/sbin/init$,rootfs/../../outside,", "s,^rootfs/sbin/init$,/outside,"):
            with tempfile.TemporaryDirectory() as folder:
                self.make_tree(folder)
                self.refused("leaving", self.packed(folder, "--transform", transform, "metadata.yaml", "rootfs"))

    def test_rootfs_twice_the_second_a_link(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make_tree(folder)
            tar = pathlib.Path(folder) / "bad.tar"
            subprocess.run(["tar", "-C", folder, "-cf", tar, "metadata.yaml", "rootfs"], check=True)
            os.mkdir(pathlib.Path(folder) / "second")
            os.symlink("/", pathlib.Path(folder) / "second/rootfs")
            subprocess.run(["tar", "-C", f"{folder}/second", "-rf", tar, "rootfs"], check=True)
            subprocess.run(["gzip", tar], check=True)
            self.refused("twice", str(tar) + ".gz")

    def test_device_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            rootfs = self.make_tree(folder)
            os.mknod(rootfs / "disk", 0o60600, os.makedev(8, 0))
            self.assertIn("disk", self.refused("device", self.packed(folder, "metadata.yaml", "rootfs")))

    def test_missing_metadata_and_truncation(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make_tree(folder)
            self.assertIn("metadata.yaml not found", self.refused("bare", self.packed(folder, "rootfs")))
            whole = harness.busybox_image().read_bytes()
            (pathlib.Path(folder) / "half.tar.gz").write_bytes(whole[: len(whole) // 2])
            self.refused("half", pathlib.Path(folder) / "half.tar.gz")


@unittest.skipUnless(os.geteuid() == 0, "needs root: a small file system is mounted")
class SmallDisk(unittest.TestCase):
    """A daemon whose state directory has a file system of its own."""
    def start(self, runtime, size):
        self.folder = tempfile.mkdtemp(prefix="svc-test-disk-")
        self.addCleanup(os.rmdir, self.folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "svc-test", self.folder], check=True)
        self.addCleanup(subprocess.run, ["umount", self.folder], check=True)
        self.daemon = harness.Daemon(runtime, parent=self.folder)
        self.addCleanup(lambda: self.assertEqual(self.daemon.close(), []))
        self.daemon.start()


class FullDisk(SmallDisk):
    def setUp(self):
        self.start("simulated", "96m")

    def test_upload_that_does_not_fit_is_refused_before_it_is_sent(self):
        package = pathlib.Path(self.folder) / "sparse"
        with open(package, "wb") as file:
            file.truncate(200 << 20)
        result = self.daemon.ctl("image", "add", "big", str(package))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"space", result.stderr)
        self.assertEqual(self.daemon.api("GET", "/1.0/images").metadata, [])


class DiskOfTheStore(SmallDisk):
    """Layers and store on one disk: what is unpacked must not take the room that records need."""
    def setUp(self):
        self.start("lxc", "256m")

    def bomb(self, folder, megabytes):
        package = pathlib.Path(folder) / "bomb.tar.gz"
        metadata = b"architecture: x86_64\ncreation_date: 1\n"
        with tarfile.open(package, "w:gz", compresslevel=1) as tar:
            for name, size, source in (("metadata.yaml", len(metadata), io.BytesIO(metadata)),
                                       ("rootfs/sbin/init", megabytes << 20, open("/dev/zero", "rb"))):
                info = tarfile.TarInfo(name)
                info.size = size
                tar.addfile(info, source)
                source.close()
        return package

    def test_image_that_unpacks_to_more_than_is_free_is_refused_and_the_store_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            error = self.daemon.wait(self.daemon.upload_image("bomb", self.bomb(folder, 400)))["err"]
        self.assertRegex(error, "not enough space in 'layers' to unpack an archive: more than [0-9]+ bytes needed, [0-9]+ free, "
                         "67108864 kept in reserve")
        self.assertEqual(os.listdir(self.daemon.state / "lxc/layers"), [])
        self.assertEqual(self.daemon.api("GET", "/1.0/images/bomb").status, 404)
        disk = os.statvfs(self.folder)
        self.assertGreater(disk.f_bavail * disk.f_frsize, 128 << 20)
        self.daemon.add_image()
        self.daemon.restart()
        self.assertEqual(self.daemon.api("GET", "/1.0/images/busybox").metadata["status"], "active")


if __name__ == "__main__":
    harness.cases.main()

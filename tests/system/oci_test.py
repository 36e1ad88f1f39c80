#!/usr/bin/env python3
"""OCI images, made and moved by umoci and skopeo, become images that run."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness

# Tells what the image asked for, then goes on as a server does.
PROGRAM = """#!/bin/sh
opened=no
echo heard >/dev/stdout && opened=yes
{ echo "console opened: $opened"; id -u; id -g; pwd; echo "$COLOUR"; echo "$HOME"; for word; do echo "[$word]"; done; } >/data/said
exec sleep 100000
"""


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def make_rootfs(root):
    for folder in ("bin", "data", "etc", "tmp"):
        (root / folder).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for name in ("sh", "cat", "id", "sleep", "ls", "tr", "grep", "wget", "httpd"):
        (root / "bin" / name).symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nshop:x:1000:1001:Shop:/data:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nshop:x:1001:\n")
    (root / "bin/candy").write_text(PROGRAM)
    (root / "bin/candy").chmod(0o755)
    (root / "data/old").write_text("of the first layer")
    os.chown(root / "data", 1000, 1001)


@unittest.skipUnless(shutil.which("umoci") and shutil.which("skopeo"), "needs umoci and skopeo")
class OciImages(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-oci-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.layout = cls.folder / "layout"
        image = f"{cls.layout}:shop"
        run("umoci", "init", "--layout", cls.layout)
        run("umoci", "new", "--image", image)
        run("umoci", "unpack", "--image", image, cls.folder / "first")
        make_rootfs(cls.folder / "first/rootfs")
        run("umoci", "repack", "--image", image, cls.folder / "first")
        run("umoci", "unpack", "--image", image, cls.folder / "second")
        (cls.folder / "second/rootfs/data/old").unlink()
        (cls.folder / "second/rootfs/data/new").write_text("of the second layer")
        run("umoci", "repack", "--image", image, cls.folder / "second")
        run("umoci", "config", "--image", image, "--config.entrypoint", "candy", "--config.cmd", "two words", "--config.cmd", "$COLOUR",
            "--config.env", "COLOUR=light red", "--config.workingdir", "/work/here", "--config.user", "shop")

    def setUp(self):
        self.addCleanup(self.daemon.remove_instances)

    def add(self, name, *words):
        done = self.daemon.ctl("image", "add", name, *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def inside(self, id, script):
        return self.daemon.execute(id, "sh", "-ec", script)

    def said(self, id):
        self.daemon.eventually(lambda: "/data/said" in self.inside(id, "ls -d /data/* || true"))
        return self.inside(id, "cat /data/said").splitlines()

    def check_candy(self, id):
        self.assertEqual(self.said(id), ["console opened: yes", "1000", "1001", "/work/here", "light red", "/data", "[two words]", "[$COLOUR]"])
        self.assertEqual(self.inside(id, "cat /data/new; ls /data"), "of the second layernew\nsaid\n")
        self.assertEqual(self.inside(id, "cat /proc/1/cmdline").split("\0")[1:3], ["init", "/.svc-init"])
        self.assertIn("sleep\000100000\0", self.inside(id, "for child in $(cat /proc/1/task/1/children); do cat /proc/$child/cmdline; done"))

    def test_a_layout_becomes_an_image_that_runs_its_program(self):
        self.add("shop", "--oci", str(self.layout))
        image = next(image for image in self.daemon.api("GET", "/1.0/images?recursion=1").metadata if image["name"] == "shop")
        self.assertEqual(image["architecture"], "x86_64")
        id = self.daemon.launch("shop")
        self.check_candy(id)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "running"}))
        self.assertEqual(self.daemon.container(id)["status"], "running")

    def test_layers_may_be_compressed_by_zstd(self):
        layout = self.folder / "by-zstd"
        run("skopeo", "copy", "--dest-compress-format", "zstd", f"oci:{self.layout}:shop", f"oci:{layout}:shop")
        kinds = {blob.read_bytes()[:4] for blob in (layout / "blobs/sha256").iterdir()}
        self.assertIn(b"\x28\xb5\x2f\xfd", kinds)
        self.add("by-zstd", "--oci", str(layout))
        self.check_candy(self.daemon.launch("by-zstd"))

    def test_an_archive_is_read_and_another_program_may_run(self):
        archive = self.folder / "shop:1.tar"
        run("skopeo", "copy", f"oci:{self.layout}:shop", f"oci-archive:{self.folder}/shop.tar:shop")
        (self.folder / "shop.tar").rename(archive)
        self.add("by-archive", "--oci", str(archive), "--init", "echo $COLOUR >/data/said; exec sleep 100")
        self.assertEqual(self.said(self.daemon.launch("by-archive")), ["light red"])

    @unittest.skipIf(harness.RUNTIME == "lxd", "LXD knows the signal of systemd alone")
    def test_an_init_is_the_first_process_and_shuts_down(self):
        image = self.with_init()
        self.add("init", "--oci", str(image))
        id = self.daemon.launch("init")
        self.daemon.eventually(lambda: "up" in self.inside(id, "cat /data/up || true"))
        self.assertEqual(self.inside(id, "cat /proc/1/comm"), "init\n")
        self.assertEqual(self.inside(id, "tr '\\0' '\\n' </proc/1/environ | grep COLOUR"), "COLOUR=dark\n")
        for status in ("stopped", "running"):
            self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": status}))
        self.assertEqual(self.inside(id, "cat /data/down"), "down\n")

    def with_init(self):
        layout = self.folder / "with-init"
        shutil.copytree(self.layout, layout)
        run("umoci", "unpack", "--image", f"{layout}:shop", self.folder / "third")
        root = self.folder / "third/rootfs"
        (root / "bin/init").symlink_to("busybox")
        (root / "etc/inittab").write_text("::sysinit:/bin/sh -c 'echo up >/data/up'\n::shutdown:/bin/sh -c 'echo down >/data/down'\n")
        run("umoci", "repack", "--image", f"{layout}:shop", self.folder / "third")
        run("umoci", "config", "--image", f"{layout}:shop", "--config.entrypoint", "/bin/init", "--config.cmd", "second", "--config.user", "",
            "--config.env", "COLOUR=dark")
        return layout

    def test_an_application_is_made_on_it(self):
        self.add("base", "--oci", str(self.layout))
        self.daemon.create_app({"manifest.yaml": "name: candy\nimage: base\n",
                                "hooks/post-start": harness.hook("echo ready >/tmp/hook")})
        id = self.daemon.launch_app("candy")
        self.check_candy(id)
        self.assertEqual(self.inside(id, "cat /tmp/hook"), "ready\n")

    def test_a_new_version_comes_from_an_oci_image(self):
        self.add("twice", "--oci", str(self.layout))
        done = self.daemon.ctl("image", "update", "twice", "--oci", str(self.layout), "--init", "exec sleep 100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(self.daemon.ctl("image", "show", "twice", "--format", "json").stdout)["versions"]), 2)

    def test_what_cannot_be_is_told(self):
        for words, text in ((("--oci", "/absent"), "is no directory, no file"), ((str(self.folder), "--oci", str(self.layout)), "not both"),
                            (("--init", "x", "/absent"), "--init is for --oci"),
                            (("--arch", "aarch64", "/absent"), "--arch is for --oci"),
                            (("--oci", str(self.layout), "--arch", "aarch64"), "has no image for arm64, but for amd64"), (("--oci", str(self.folder)), "has no file oci-layout"),
                            ((), "or an OCI image with --oci")):
            done = self.daemon.ctl("image", "add", "none", *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(text, done.stderr.decode())


if __name__ == "__main__":
    harness.cases.main()

#!/usr/bin/env python3
"""Android guests, as far as a stub can stand for Android: in a virtual machine whose kernel has binder, this daemon runs two
of them, each with a real binder context manager of its own."""
import io
import json
import os
import pathlib
import tarfile
import unittest

import harness
import kernel_machine

HERE = pathlib.Path(__file__).resolve().parent / "android"
PROBE = harness.BUILD / "tests/system/binder-probe"
HELPER = harness.BUILD / "libsvc/runtime/lxc/helper/svc-lxc"
LAUNCHER = harness.BUILD / "libsvc/runtime/lxc/launcher/svc-launch"
STUBS = ("getprop", "pm", "am", "dumpsys", "pidof", "logcat")
SETTINGS = {"state_dir": "/var/lib/svc", "listen": "127.0.0.1:0", "metrics_listen": "none", "hypervisor_listen": "none", "bridge": "svctbr",
            "subnet": "10.99.0.1/24", "address": "127.0.0.1", "runtime": "lxc", "name_servers": ["10.0.0.53"]}
MANIFEST = """name: candy
boot-package: com.candy
boot-activity: .Main
required-permissions: [android.permission.CAMERA]
resources: {cpus: 1, memory: 200MB, disk-size: 100MB}
watchdog: {disabled: true}
"""
# The stub tells nothing of Android in its metadata: /system/build.prop does.
METADATA = {"architecture": "x86_64", "creation_date": 1700000000,
            "properties": {"init": "/init androidboot.hardware=pocket"}}


class Image:
    def __init__(self, path):
        self.archive = tarfile.open(path, "w:gz", compresslevel=1)

    def add(self, name, content=b"", mode=0o755, kind=tarfile.REGTYPE, link=""):
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.type, info.linkname = len(content), mode, kind, link
        self.archive.addfile(info, io.BytesIO(content))


def make_image(path):
    image = Image(path)
    image.add("metadata.yaml", json.dumps(METADATA).encode(), 0o644)
    for folder in ("", "/dev", "/proc", "/sys", "/data", "/system", "/system/bin", "/system/etc"):
        image.add("rootfs" + folder, kind=tarfile.DIRTYPE)
    image.add("rootfs/system/build.prop", b"ro.build.version.release=14\n", 0o644)
    stub = (HERE / "stub.sh").read_bytes()
    image.add("rootfs/init", stub)
    for name in STUBS:
        image.add("rootfs/system/bin/" + name, stub)
    image.add("rootfs/system/bin/busybox", pathlib.Path("/bin/busybox").read_bytes())
    image.add("rootfs/system/bin/binder-probe", PROBE.read_bytes())
    for name in ("sh", "cat", "tr", "touch", "sleep", "ls", "readlink", "kill", "grep"):
        image.add("rootfs/system/bin/" + name, kind=tarfile.SYMTYPE, link="busybox")
    image.add("rootfs/etc", kind=tarfile.SYMTYPE, link="system/etc")
    image.archive.close()


@unittest.skipIf(kernel_machine.missing(), kernel_machine.missing())
class AndroidGuests(unittest.TestCase):
    maxDiff = None

    def run_inside(self, mode, launcher="automatic"):
        machine = kernel_machine.KernelMachine()
        self.addCleanup(machine.close)
        if mode == "binderfs":
            machine.take_binderfs()
        for program, place in ((harness.SVCD, "/usr/bin/svcd"), (harness.SVCCTL, "/usr/bin/svcctl"), (harness.AGENT, "/usr/bin/svc-agent"),
                               (HELPER, "/usr/bin/svc-lxc"), (LAUNCHER, "/usr/bin/svc-launch"), ("/bin/tar", "/usr/bin/tar")):
            machine.add(program, place)
        settings = {**SETTINGS, "lxc_launcher": launcher}
        machine.write("/etc/svcd.yaml", "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items()))
        machine.write("/usr/lib/x86_64-linux-gnu/lxc/rootfs/README", "")
        machine.add(PROBE, "/binder-probe")
        machine.write("/inside.sh", (HERE / "inside.sh").read_text(), 0o755)
        make_image(machine.root / "guest.tar.gz")
        machine.write("/app/manifest.yaml", MANIFEST)
        machine.write("/app/app.apk", "stub")
        output = machine.run(f"#!/bin/sh\nexec /inside.sh {mode}\n")
        if os.environ.get("SVC_SHOW"):
            print(output)
        return kernel_machine.sections(output)

    def test_two_guests_have_binder_devices_each(self):
        self.check_devices("own")

    def test_two_guests_of_liblxc_have_binder_devices_each(self):
        self.check_devices("liblxc")

    def check_devices(self, launcher):
        told = self.run_inside("devices", launcher)
        self.assertIn("binder devices for 2 guests", "\n".join(told["node"]))
        self.check(told)
        self.assertIn("sets of binder devices for Android guests: none of the 2 is free", " ".join(told["third"]))
        self.assertEqual(told["spoilt"], ["context manager"])
        self.assertIn("; svc-b2 is left out: /dev/svc-h2: Operation not permitted", "\n".join(told["node"]))
        self.assertEqual(told["steal"], ["no context manager: Operation not permitted"])

    @unittest.skipUnless(kernel_machine.BINDERFS.is_dir(), "Debian's kernel has no binderfs: tests/support/kernel_machine.py --binderfs")
    def test_guests_have_a_binderfs_each(self):
        told = self.run_inside("binderfs")
        self.assertIn("binderfs", "\n".join(told["node"]))
        self.check(told)
        self.assertEqual(told["third"], [])
        self.assertEqual(told["steal"], ["context manager"])  # of its own binderfs

    def check(self, told):
        """What holds for both kernels."""

        self.assertEqual(told["cmdline"],
                         ["/system/bin/sh /init androidboot.hardware=pocket androidboot.pocket_width=800 androidboot.pocket_height=600 "
                          "androidboot.pocket_dpi=120 androidboot.pocket_fps=30 androidboot.pocket_gpu_mode=guest "
                          "androidboot.pocket_net_ndns=1 androidboot.pocket_net_dns1=10.0.0.53"])
        id_map, files, nice, *nodes, folder, kmsg = told["limits"]
        self.assertEqual(id_map.split()[::2], ["0", "131072"])
        self.assertEqual((files, nice), ("32768", "40"))
        self.assertTrue(all(node.startswith("crw-rw-rw-") for node in nodes) and len(nodes) == 3, nodes)
        self.assertTrue(folder.startswith("drwxr-xr-x"), folder)
        self.assertEqual(kmsg, "console")

        self.assertEqual(told["answers"], ["context manager", "answer of one", "context manager", "answer of two"])
        self.assertEqual(told["alone"], ["nobody answers", "answer of one"])
        self.assertIn("I/stub: the log of Android", "\n".join(told["logs"]))
        self.assertEqual(told["logs"][-3:], ["1", "init: first stage", "init: first stage"])
        self.assertEqual(told["stop"], ["told to shut down", "context manager", "answer of two"])
        self.assertEqual(told["again"], ["answer of one", "context manager", "answer of four"])
        self.assertEqual(told["pause"], ["1", "goes on"])
        self.assertEqual(told["application"],
                         ["pm install -r /var/lib/svc-agent/app/app.apk", "pm grant com.candy android.permission.CAMERA",
                          "am start -W -n com.candy/.Main"])

    def test_without_binder_a_launch_says_what_is_missing(self):
        told = self.run_inside("without")
        self.assertIn("runs no Android guests: the kernel has no binder, or its module is not loaded (modprobe binder_linux",
                      " ".join(told["without"]))


if __name__ == "__main__":
    harness.cases.main()

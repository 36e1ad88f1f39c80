"""The life of real containers that a walk goes through, and what is left of them in the machine."""
import os
import pathlib
import re
import subprocess

import workload
from service import CRASH, Died, Service, harness
from workload import Step, digest, remove, status

ADDON = harness.package({"manifest.yaml": "name: one\n", "hooks/install": harness.hook("echo one >/one"),
                         "hooks/post-stop": harness.hook("true")})
APPLICATION = harness.package({"manifest.yaml": "name: alpha\nimage: a\naddons: [one]\n", "text": "1"})
RAW = {"image_id": "a", "instance_type": "a2.3", "cpu": 1, "memory": 64 << 20, "disk_size": 64 << 20}


class Contained(Service):
    """Its svc-lxc or svc-launch and its svc-agent take orders too: they are scripts that have the environment in them."""

    def __init__(self):
        super().__init__("lxc")
        self.record = self.dir / "record"
        self.settings.update({harness.HELPER_SETTING: str(self.dir / harness.HELPER)}, agent=str(self.dir / "svc-agent"))
        self.order(harness.HELPER)
        self.order("svc-agent")

    def order(self, program, **environment):
        """What the next processes of the program are told; one of them ends."""
        here, binary, env = {harness.HELPER: (self.dir, CRASH / program, "/usr/bin/env"), "svc-agent": ("/crash", f"/crash/{program}", "/bin/env")}[program]
        words = [f"{name}={value}" for name, value in {**environment, "SVC_FAILPOINT_ONCE": f"{here}/once"}.items()]
        (self.dir / "once").touch()
        script = self.dir / f"{program}.new"
        script.write_text(f"#!/bin/sh\nexec {env} {' '.join(words)} {binary} \"$@\"\n")
        script.chmod(0o755)
        script.rename(self.dir / program)

    def node(self):
        return self.api("GET", "/1.0/nodes").metadata[0].rsplit("/", 1)[1]

    def traces(self):
        """What instances have in the machine while there are some, as a set of texts."""
        found = {f"mount {m}" for m in harness.mounts() if str(self.dir) in m}
        found |= {f"device {name}" for name in self.entries(f"/sys/class/net/{self.bridge}/brif")}
        found |= {f"range {name}" for name in self.ranges()}
        found |= {f"group {path}" for path in self.groups()}
        for family in ("inet", "bridge"):
            rules = subprocess.run(["nft", "-s", "list", "table", family, f"svc_{self.bridge}"], capture_output=True, text=True)
            found |= {f"rule {family} {line.strip()}" for line in self.without_names(rules.stdout).splitlines()}
        return found

    def without_names(self, rules):
        """The same for each service: names and addresses of its bridge and of its devices have others in them."""
        rules = rules.replace(self.bridge, "BRIDGE").replace(self.subnet.rsplit(".", 1)[0], "NET")
        return re.sub(r'"sv[0-9a-z]{4}\*"', "DEVICES", re.sub(r"02:16(:[0-9a-f]{2}){4}", "MAC", rules))

    def entries(self, folder):
        return os.listdir(folder) if os.path.isdir(folder) else []

    def ranges(self):
        folder = pathlib.Path("/run/svc-lxc/ids")
        return [path.name for path in map(folder.joinpath, self.entries(folder))
                if path.is_symlink() and str(self.dir) in os.readlink(path)]

    def groups(self):
        top = pathlib.Path("/sys/fs/cgroup")
        return [str(path) for depth in ("", "*/") for path in top.glob(f"{depth}svc-{self.bridge}/*") if path.is_dir()]


def image():
    """The demo image with the crash build's agent inside, and a file that the one removes which is to end."""
    def change(rootfs):
        (rootfs / "crash").mkdir()
        subprocess.run(["strip", "-o", rootfs / "crash/svc-agent", CRASH / "svc-agent"], check=True)
        (rootfs / "crash/once").touch()
        (rootfs / "crash/record").touch()
        (rootfs / "crash/record").chmod(0o666)
    with harness.tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        return harness.changed_image(folder, change).read_bytes()


class Done:
    status = 200


def executed(client):
    """A command in the instance. It may fail when the helper was killed."""
    result = client.service.ctl("exec", client.id("first"), "--", "cat", "/crash/record")
    if result.returncode != 0 and client.service.died():
        raise Died("exec")
    assert result.returncode == 0 or client.tolerant, result
    client.printed = result.stdout.decode()
    return Done


class Client(workload.Client):
    printed = ""


def steps(package):
    active = ("active", [(0, digest(package), "active")])
    snapshots = lambda c: f"/1.0/instances/{c.id('first')}/snapshots"  # noqa: E731
    return [
        Step("upload an image", lambda c: c.service.upload("POST", "/1.0/images", package, name="a"), {"image a": active}),
        Step("add an addon", lambda c: c.service.upload("POST", "/1.0/addons", ADDON, name="one"), {"addon one": [digest(ADDON)]}, False),
        Step("create an application", lambda c: c.service.upload("POST", "/1.0/applications", APPLICATION),
             {"application alpha": ("ready", ["active"]), "tags alpha": []}, False),
        Step("launch", lambda c: c.launch("first", {"app_id": "alpha"}), {"instance first": "running"}),
        Step("execute", executed, {}, False),
        Step("stop", status("first", "stopped"), {"instance first": "stopped"}),
        Step("take a snapshot", lambda c: c.service.api("POST", snapshots(c), {"name": "kept"}), {"snapshot first/kept": "ready"}),
        Step("restore", lambda c: c.service.api("POST", snapshots(c) + "/kept/restore", {}), {}),
        Step("start", status("first", "running"), {"instance first": "running"}),
        Step("launch an image", lambda c: c.launch("second", RAW), {"instance second": "running"}),
        Step("delete by force", remove("second", True), {"instance second": None}),
        Step("delete the snapshot", lambda c: c.service.api("DELETE", snapshots(c) + "/kept"), {"snapshot first/kept": None}),
        Step("delete", remove("first", False), {"instance first": None}),
        Step("delete the application", lambda c: c.service.api("DELETE", "/1.0/applications/alpha"),
             {"application alpha": None, "tags alpha": None}, False),
        Step("delete the addon", lambda c: c.service.api("DELETE", "/1.0/addons/one"), {"addon one": None}, False),
        Step("delete the image", lambda c: c.service.api("DELETE", "/1.0/images/a"), {"image a": None}, False),
    ]


FOLDERS = {"svcd": ("libsvc/runtime/lxc/container", "libsvc/runtime/lxc/containers", "libsvc/runtime/lxc/disk", "libsvc/runtime/lxc/host",
                    "libsvc/runtime/lxc/network"),
           harness.HELPER: ("libsvc/runtime/lxc/helper", "libsvc/runtime/lxc/launcher"), "svc-agent": ("instance-agent",)}

"""What launches the same small image: svcd and bare lxc-start; other_peers.py has LXD and podman. Each has start(), which
returns what remove() takes, and close(), which leaves nothing."""
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading

from clients import Api, harness

MEMORY, PROCESSES = 256 << 20, 4096
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, **{**QUIET, **options})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {(done.stderr or b'').decode(errors='replace').strip()}")


def plain_image(folder):
    """The demo image without a readiness check: `running` follows init at once, as with the others."""
    metadata = f"architecture: {os.uname().machine}\ncreation_date: 1\n"
    return harness.changed_image(folder, lambda rootfs: None, metadata)


def scratch():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-bench-", dir="/var/tmp"))
    os.chmod(folder, 0o711)
    return folder


class Svcd:
    name = "svcd"

    def __init__(self, prefix=24, build=harness.BUILD, **settings):
        self.build, self.daemon = build, harness.Daemon(cpu_allocation_rate=100, **settings)
        self.daemon.program = build / "server/svcd"
        self.daemon.subnet = self.daemon.subnet.replace("/24", f"/{prefix}")
        self.daemon.start()
        with tempfile.TemporaryDirectory() as folder:
            self.daemon.add_image("plain", plain_image(folder))
        self.fingerprint = self.daemon.api("GET", "/1.0/images/plain").metadata["versions"][0]["fingerprint"]
        self.api = Api(self.daemon.socket)

    @property
    def layer(self):
        return self.daemon.state / "lxc/layers" / self.fingerprint / "rootfs"

    def start(self, **fields):
        body = {"image_id": "plain", "instance_type": "a2.3", "memory": MEMORY, "cpu": 1, "disk_size": 64 << 20, **fields}
        return self.api.call("POST", "/1.0/containers", body)["resources"]["containers"][0].rsplit("/", 1)[1]

    def remove(self, id):
        self.api.call("DELETE", f"/1.0/containers/{id}", {"force": True})

    def close(self):
        left = self.daemon.close()
        assert not left, left


class Liblxc(Svcd):
    name = "svcd with lxc_launcher: liblxc"

    def __init__(self, **settings):
        super().__init__(lxc_launcher="liblxc", **settings)


class OtherBuild(Svcd):
    name = "another build"


class BareLxc:
    """The same layer, overlay, id map, veth and limits, started by lxc-start alone."""
    name, entered_by = "bare lxc-start", "lxc-attach"

    def __init__(self, svcd):
        self.daemon, self.layer, self.dir = svcd.daemon, svcd.layer, scratch()
        self.prefix = self.daemon.subnet.rsplit(".", 1)[0]
        self.tools = {tool: shutil.which(tool) for tool in ("lxc-start", "lxc-stop")}
        self.numbers, self.addresses, self.turn = itertools.count(), list(range(2, 254)), threading.Lock()

    def start(self):
        with self.turn:
            name, address = f"bare{next(self.numbers)}", self.addresses.pop()  # from above: svcd counts from below
        folder = self.dir / name
        for part in ("upper", "work", "rootfs"):
            (folder / part).mkdir(parents=True)
        os.chmod(folder, 0o711)
        os.chown(folder / "upper", 100000, 100000)
        (folder / "config").write_text(self.config(name, folder, address))
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={self.layer},upperdir={folder}/upper,workdir={folder}/work",
            folder / "rootfs")
        # Without newuidmap in reach liblxc writes the id map itself, as root may; so does svcd. It is the faster way.
        run(self.tools["lxc-start"], "-P", self.dir, "-n", name, "-d", "-o", folder / "log", env={"PATH": "/nonexistent"})
        return name, address

    def config(self, name, folder, address):
        return f"""lxc.include = /usr/share/lxc/config/common.conf
lxc.include = /usr/share/lxc/config/userns.conf
lxc.hook.mount =
lxc.hook.post-stop =
lxc.uts.name = {name}
lxc.rootfs.path = dir:{folder}/rootfs
lxc.idmap = u 0 100000 65536
lxc.idmap = g 0 100000 65536
lxc.net.0.type = veth
lxc.net.0.link = {self.daemon.bridge}
lxc.net.0.flags = up
lxc.net.0.name = eth0
lxc.net.0.ipv4.address = {self.prefix}.{address}/24
lxc.net.0.ipv4.gateway = {self.prefix}.1
lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed
lxc.apparmor.profile = unconfined
lxc.cgroup.memory.limit_in_bytes = {MEMORY}
lxc.cgroup.pids.max = {PROCESSES}
lxc.console.logfile = {folder}/console.log
"""

    def enter(self, started):
        """What a command is put behind to run in there, and its environment."""
        return ["lxc-attach", "-P", self.dir, "-n", started[0], "--"], None

    def remove(self, started):
        name, address = started
        run(self.tools["lxc-stop"], "-P", self.dir, "-n", name, "-k")
        run("umount", self.dir / name / "rootfs")
        shutil.rmtree(self.dir / name)
        with self.turn:
            self.addresses.append(address)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

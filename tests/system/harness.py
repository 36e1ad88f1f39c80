"""Drives real svcd processes for the system tests: own state, own bridge, own subnet, nothing left at the end."""
import atexit
import contextlib
import fcntl
import hashlib
import http.client
import io
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

from addresses import free_net, free_port  # noqa: F401, others take them from here

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402, F401, likewise

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SVC_BUILD_DIR", ROOT / "build")).resolve()  # /proc names programs by it
SVCD = BUILD / "server/svcd"
SVCCTL = BUILD / "cli/svcctl"
AGENT = BUILD / "instance-agent/svc-agent"
GUEST_CAT = BUILD / "instance-agent/samples/svc-guest-cat"
AGENT_INSIDE = "/var/lib/svc-agent/bin/svc-agent"
FINAL = 200
LAUNCHER = os.environ.get("SVC_TEST_LAUNCHER")  # own or liblxc; otherwise as svcd chooses
HELPER, HELPER_SETTING = ("svc-lxc", "lxc_helper") if LAUNCHER == "liblxc" else ("svc-launch", "launch_helper")
RUNTIME = os.environ.get("SVC_TEST_RUNTIME", "lxc")  # lxd: with the LXD of support/lxd_machine
PATIENCE = 120  # seconds, for what takes a moment on a machine that is not busy


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=240):
        super().__init__("svc", timeout=timeout)
        self.unix_path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.unix_path)


class Reply:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw

    @property
    def body(self):
        return json.loads(self.raw)

    @property
    def metadata(self):
        return self.body["metadata"]

    @property
    def error(self):
        return self.body["error"]


class Daemon:
    """One svcd with everything of its own. start() and kill() may alternate; close() checks that nothing is left."""
    program = SVCD

    def __init__(self, runtime=RUNTIME, parent=None, **settings):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="svc-test-", dir=parent or "/var/tmp"))
        os.chmod(self.dir, 0o711)
        self.bridge = f"svct{os.getpid() % 100000}x{random.randrange(1000)}"[:15]
        self.subnet = f"{free_net()}.1/24"  # None: as svcd chooses it
        self.runtime, self.settings = runtime, settings
        if runtime == "lxd" and "lxd" not in settings:
            self.settings["lxd"] = "unix:" + os.environ["SVC_LXD_SOCKET"]
        if runtime == "lxc" and LAUNCHER:
            self.settings.setdefault("lxc_launcher", LAUNCHER)
        self.socket = self.dir / "unix.socket"
        self.process, self.addresses, self.before = None, [], mounts()
        self.files = None  # (soft, hard) limit of open files; None: ours

    @property
    def state(self):
        return self.dir / "state"

    def command(self):
        config = self.dir / "svcd.yaml"
        config.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in self.settings.items()) or "{}\n")
        return [self.program, "--config", config, "--state-dir", self.state, "--socket", self.socket, "--listen", "127.0.0.1:0",
                *self.no_metrics(), "--runtime", self.runtime, "--bridge", self.bridge,
                *(["--subnet", self.subnet] if self.subnet else [])]

    def no_metrics(self):
        """Off, but for listeners that the settings ask for."""
        return [word for key in ("metrics_listen", "hypervisor_listen") if key not in self.settings
                for word in ("--" + key.replace("_", "-"), "none")]

    def start(self):
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, self.files)) if self.files else None
        self.process = subprocess.Popen(self.command(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, preexec_fn=limit)
        with open(self.dir / "svcd.log", "ab") as log:
            for line in self.process.stderr:
                log.write(line)
                if line.startswith(b"svcd: ready"):
                    self.addresses = line.decode().split()[2:]
                    break
        # Somebody must read on, or the daemon would block on a full pipe.
        with open(self.dir / "svcd.log", "ab") as log:
            self.reader = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=log)
        if not self.addresses:
            raise AssertionError(f"svcd did not become ready: {self.log()}")
        return self

    def whole_log(self):
        return (self.dir / "svcd.log").read_text(errors="replace")

    def log(self):
        """Its end, which fits into a message."""
        return self.whole_log()[-4000:]

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.signal(number)
            status = self.process.wait(timeout=60)
            self.process.stderr.close()
            self.reader.wait(timeout=60)
            self.process = None
            return status

    def signal(self, number):
        self.process.send_signal(number)

    def restart(self):
        self.kill()
        return self.start()

    def api(self, method, path, body=None, headers=None, timeout=240):
        connection = UnixConnection(self.socket, timeout)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())

    def wait(self, reply, timeout=180):
        """The final record of the operation that `reply` started."""
        assert reply.status == 202, f"{reply.status}: {reply.raw}"
        return self.wait_operation(reply.metadata["id"], timeout)

    def wait_operation(self, operation, timeout=180):
        record = self.api("GET", f"/1.0/operations/{operation}/wait?timeout={timeout}").metadata
        assert record["status_code"] >= FINAL, f"not final after {timeout} s: {record} {self.log()}"
        return record

    def succeed(self, reply, timeout=180):
        record = self.wait(reply, timeout)
        assert record["status_code"] == FINAL, f"{record['err']} {self.log()}"
        return record

    def upload_image(self, name, package, **request):
        data = pathlib.Path(package).read_bytes()
        return self.api("POST", "/1.0/images", data, {
            "Content-Type": "application/octet-stream", "X-SVC-Request": json.dumps({"name": name, **request}),
            "X-SVC-Fingerprint": hashlib.sha256(data).hexdigest()})

    def add_image(self, name="busybox", package=None):
        self.succeed(self.upload_image(name, package or busybox_image()))
        return name

    def launch(self, image="busybox", **fields):
        return self.launch_any({"image_id": image, "instance_type": "a2.3", **fields})

    def launch_app(self, application, **fields):
        return self.launch_any({"app_id": application, **fields})

    def launch_any(self, body):
        reply = self.api("POST", "/1.0/containers", body)
        self.succeed(reply)
        return reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]

    def upload(self, method, path, package, **request):
        """Sends a package: bytes, a file, or a tree of files as `package()` takes it."""
        data = package if isinstance(package, bytes) else pathlib.Path(package).read_bytes()
        return self.api(method, path, data, {
            "Content-Type": "application/octet-stream", "X-SVC-Request": json.dumps(request) if request else "",
            "X-SVC-Fingerprint": hashlib.sha256(data).hexdigest()})

    def add_addon(self, name, files):
        self.succeed(self.upload("POST", "/1.0/addons", package(files), name=name))
        return name

    def create_app(self, files, wait="ready"):
        reply = self.upload("POST", "/1.0/applications", package(files))
        self.succeed(reply)
        id = reply.metadata["resources"]["applications"][0].rsplit("/", 1)[1]
        if wait:
            self.await_app(id, wait)
        return id

    def application(self, id):
        return self.api("GET", f"/1.0/applications/{id}").metadata

    def version(self, id, number):
        return next(v for v in self.application(id)["versions"] if v["number"] == number)

    def await_app(self, id, status="ready"):
        """Waits for the newest version's bootstrap."""
        result = self.ctl("wait", id, "-c", f"status={status}", "-t", "200s")
        assert result.returncode == 0, f"{result.stderr} {self.application(id)} {self.log()}"

    def await_version(self, id, number, status="active"):
        self.eventually(lambda: any(v["number"] >= number for v in self.application(id)["versions"]))
        result = self.ctl("wait", id, "-s", f"version={number}", "-c", f"status={status}", "-t", "200s")
        assert result.returncode == 0, f"{result.stderr} {self.application(id)} {self.log()}"

    def eventually(self, condition, limit=PATIENCE):
        """Until the condition holds; each attempt asks the daemon something, so that it gets on with its work."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if condition():
                return True
            self.api("GET", "/1.0/operations")
        return condition()

    def set_config(self, name, value):
        self.succeed(self.api("PATCH", "/1.0/config", {"name": name, "value": value}))

    def execute(self, id, *command):
        """What the command in the instance printed."""
        result = self.ctl("exec", id, "--", *command)
        assert result.returncode == 0, result
        return result.stdout.decode()

    def remove(self, url):
        """Deletes by force what may be going already; base containers go by themselves."""
        reply = self.api("DELETE", url, {"force": True})
        if reply.status not in (404, 409):
            self.wait(reply)

    def remove_instances(self):
        for container in self.containers() or []:
            self.remove(f"/1.0/containers/{container['id']}")
        assert self.eventually(lambda: not self.containers()), self.containers()

    def container(self, id):
        return self.api("GET", f"/1.0/containers/{id}").metadata

    def containers(self):
        return self.api("GET", "/1.0/containers?recursion=1").metadata

    def ctl(self, *arguments, **options):
        return subprocess.run([SVCCTL, "--socket", self.socket, *arguments], capture_output=True, timeout=240, **options)

    def close(self):
        """Deletes what is left and returns what could not be removed (an empty list when all is well)."""
        if not self.process:
            self.start()
        self.remove_instances()
        self.kill(signal.SIGTERM)
        subprocess.run([SVCD, "--config", self.dir / "svcd.yaml", "--state-dir", self.state, "--bridge", self.bridge, "--subnet",
                        self.subnet, "--runtime", self.runtime, "--tear-down"], check=True, timeout=60, capture_output=True)
        left = self.leftovers()
        shutil.rmtree(self.dir, ignore_errors=True)
        return left

    def leftovers(self):
        left = [f"mount {m}" for m in mounts() - self.before if str(self.dir) in m]
        left += [f"process {p}" for p in processes() if str(self.dir) in p]
        left += [f"device {d}" for d in os.listdir("/sys/class/net") if d == self.bridge]
        if self.runtime != "simulated":
            tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout
            left += [f"rules {t}" for t in tables.splitlines() if self.bridge in t]
        containers = self.state / "lxc/containers"
        left += [f"file {f}" for f in (containers.iterdir() if containers.exists() else [])]
        return left


def package(files, compression="bz2"):
    """The bytes of a tarball. `files`: name -> text or bytes; what lies in hooks/ is executable."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as tar:
        for name, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755 if name.startswith("hooks/") else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def hook(script):
    return f"#!/bin/sh\nset -e\n{script}\n"


def mounts():
    return {line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()}


def processes():
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                found.append(entry + " " + pathlib.Path(f"/proc/{entry}/cmdline").read_text(errors="replace").replace("\0", " "))
            except OSError:
                pass
    return found


def pids_of(id):
    """Host pids of what runs inside the instance, its init first: in its control group, in another user namespace."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if f"{id}" in pathlib.Path(f"/proc/{entry}/cgroup").read_text() and os.readlink(
                    f"/proc/{entry}/ns/user") != os.readlink("/proc/self/ns/user"):
                found.append(int(entry))
        except OSError:
            pass
    return sorted(found, key=started)


def started(pid):
    """When, in the kernel's ticks; what has ended came last."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    except OSError:
        return 1 << 62


def cgroup_value(pid, controller, *names):
    """What the control group of a process says: the first of the files that is there (v1, hybrid or v2)."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for base in ([f"/sys/fs/cgroup/{controller}"] if controller in controllers.split(",") else
                     ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] if not controllers else []):
            for name in names:
                file = pathlib.Path(base + path) / name
                if file.exists():
                    return file.read_text().strip()
    raise AssertionError(f"no {names} for process {pid}")


_images = {}


def busybox_image(suffix="tar.gz"):
    """A package of the busybox demo image, made once a process."""
    if suffix not in _images:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-test-image-"))
        atexit.register(shutil.rmtree, folder, True)
        subprocess.run([ROOT / "tests/images/busybox.sh", folder / f"image.{suffix}"], check=True)
        _images[suffix] = folder / f"image.{suffix}"
    return _images[suffix]


def debian_image(more="gpsd"):
    """A package of minimal Debian with `more` packages. Making one takes minutes, so it is kept beside the programs."""
    script = ROOT / "tests/images/debian.sh"
    key = hashlib.sha256(script.read_bytes() + more.encode()).hexdigest()[:16]
    package = BUILD / "images" / f"debian-{key}.tar.gz"
    package.parent.mkdir(parents=True, exist_ok=True)
    with open(package.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # run-tests may be making it
        if not package.exists():
            made = subprocess.run([script, package, "bookworm", more], capture_output=True, text=True, timeout=900)
            assert made.returncode == 0, made.stderr
    return package


def changed_image(folder, change, metadata=None):
    """Unpacks the demo image into `folder`, lets `change(rootfs)` alter it, packs it again."""
    folder = pathlib.Path(folder)
    tree = folder / "tree"
    tree.mkdir()
    subprocess.run(["tar", "-C", tree, "-xf", busybox_image()], check=True)
    if metadata is not None:
        (tree / "metadata.yaml").write_text(metadata)
    change(tree / "rootfs")
    package = folder / "changed.tar.gz"
    subprocess.run(["tar", "-C", tree, "-czf", package, *sorted(os.listdir(tree))], check=True)
    shutil.rmtree(tree)
    return package


class DaemonTest(unittest.TestCase):
    """One daemon a class; each test cleans its own instances, the class checks that nothing is left."""
    runtime, settings = RUNTIME, {}
    parent = None  # where the daemon's folder is made; None: beside those of other tests

    @classmethod
    def setUpClass(cls):
        if cls.runtime != "simulated" and os.geteuid() != 0:
            raise unittest.SkipTest("needs root: containers, bridge and mounts")
        cls.daemon = Daemon(cls.runtime, parent=cls.parent, **cls.settings)
        try:
            cls.daemon.start()
            cls.prepare()
        except BaseException:
            cls.daemon.kill()
            raise

    @classmethod
    def prepare(cls):
        cls.daemon.add_image()

    @classmethod
    def tearDownClass(cls):
        left = cls.daemon.close()
        if left:
            raise AssertionError(f"left behind: {left}")

"""A whole stream for the system tests: svcd, svc-gateway, svc-metrics, the desktop image, the streamer, and a client."""
import fcntl
import hashlib
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import tarfile
import threading
import time
import unittest

import harness

GATEWAY = harness.BUILD / "server/gateway/svc-gateway"
METRICS = harness.BUILD / "server/metrics-agent/svc-metrics"
STREAMER = harness.BUILD / "instance-agent/streamer/svc-streamer"
DEMO = harness.BUILD / "instance-agent/samples/svc-stream-demo"
GAMEPAD_LIBRARY = harness.BUILD / "instance-agent/gamepad/libsvcgamepad.so"
GUEST_DISPLAY = harness.BUILD / "instance-agent/samples/svc-guest-display"
CLIENT = harness.BUILD / "tests/system/svc-stream-client"
PACKAGE = harness.ROOT / "instance-agent/streamer/package.sh"
DESKTOP = "tests/samples/desktop"
PATIENCE = harness.PATIENCE
SQUARE_CYAN, SQUARE_MAGENTA = (0, 0xe0, 0xe0), (0xe0, 0, 0xe0)


def missing():
    """Why there is nothing to test here; None: there is."""
    if os.geteuid() != 0:
        return "needs root: containers, bridge and mounts"
    if not STREAMER.exists() or not DEMO.exists():
        return "needs svc-streamer, which was not built: the packages of the kind `stream` are missing"
    if not shutil.which("mmdebstrap"):
        return "needs mmdebstrap"
    return None


def cached(name, sources, make):
    """A file beside the programs, made anew when what it is made from changes. run-tests may be making it at the same time."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(pathlib.Path(source).read_bytes())
    stem, suffix = name.split(".", 1)
    file = harness.BUILD / "images" / f"{stem}-{digest.hexdigest()[:16]}.{suffix}"
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file.parent / f"{stem}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            for old in file.parent.glob(f"{stem}-*.{suffix}"):
                old.unlink()
            made = subprocess.run(make(file), capture_output=True, text=True, timeout=900)
            assert made.returncode == 0, made.stderr
    return file


def desktop_image():
    script = harness.ROOT / "tests/images/desktop.sh"
    return cached("desktop.tar.gz", [script], lambda file: [script, file])


def streamer_addon():
    addon = sorted(p for p in (harness.ROOT / "instance-agent/streamer/addon").rglob("*") if p.is_file())
    return cached("svc-streamer.tar.bz2", [PACKAGE, STREAMER, GAMEPAD_LIBRARY, *addon], lambda file: [PACKAGE, STREAMER, file])


def desktop_application(**hooks):
    """The sample with the demo program in it, and with more hooks."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as tar:
        for entry in sorted((harness.ROOT / DESKTOP).iterdir()):
            tar.add(entry, entry.name)
        tar.add(DEMO, "bin/svc-stream-demo")
        for name, script in hooks.items():
            entry, data = tarfile.TarInfo("hooks/" + name.replace("_", "-")), harness.hook(script).encode()
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


DEMO_HOOK = """[ "$INSTANCE_TYPE" = regular ] || exit 0
exec "$RUNTIME_DIR/bin/svc-agent" keep-running --log "$RUNTIME_DIR/logs/demo.log" -- "$APP_DIR/bin/svc-stream-demo" --display :0"""


class Gateway:
    """One svc-gateway over one daemon. start() and kill() may alternate."""
    program = GATEWAY

    def __init__(self, daemon, metrics_server=None, **settings):
        self.daemon, self.dir = daemon, daemon.dir
        self.bridge = daemon.subnet.split("/")[0]
        self.port = harness.free_port("0.0.0.0")
        region = {"name": "local", "url": f"unix://{daemon.socket}"}
        if metrics_server:
            region["metrics_server"] = metrics_server
        self.settings = {"state_dir": str(self.dir / "gateway"), "socket": str(self.dir / "gateway.socket"),
                         "listen": f"0.0.0.0:{self.port}", "metrics_listen": "none", "regions": [region],
                         "instance_url": f"https://{self.bridge}:{self.port}", **settings}
        self.process = None

    def start(self):
        config = self.dir / "gateway.yaml"
        config.write_text(json.dumps(self.settings))
        self.log_file = open(self.dir / "gateway.log", "ab")
        before = self.log_file.tell()
        self.process = subprocess.Popen([self.program, "--config", config], stdin=subprocess.DEVNULL, stderr=self.log_file)
        eventually(lambda: b"ready" in (self.dir / "gateway.log").read_bytes()[before:] or self.process.poll() is not None)
        assert self.process.poll() is None, self.log()
        if not hasattr(self, "token"):
            self.token = self.local("POST", "/1.0/accounts", {"name": "tests"})["token"]
        assert eventually(lambda: self.api("GET", "/1.0/regions/").metadata == [{"name": "local"}]), self.log()
        return self

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(timeout=PATIENCE)
        self.log_file.close()

    def log(self):
        return (self.dir / "gateway.log").read_text(errors="replace")[-6000:]

    def local(self, method, path, body=None):
        connection = harness.UnixConnection(self.settings["socket"])
        connection.request(method, path, body=json.dumps(body) if body else None)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer.get("metadata")

    def api(self, method, path, body=None):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=PATIENCE)
        connection.request(method, path, body=json.dumps(body) if body is not None else None,
                           headers={"Authorization": f"macaroon root={self.token}"})
        response = connection.getresponse()
        reply = harness.Reply(response.status, response.headers, response.read())
        connection.close()
        return reply

    def certificate(self):
        """What everybody sees, as PEM."""
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def create(self, app="desktop", **fields):
        reply = self.api("POST", "/1.0/sessions/", {"app": app, "joinable": True, **fields})
        assert reply.status == 201, reply.raw
        return reply.metadata

    def session(self, id):
        return self.api("GET", f"/1.0/sessions/{id}").metadata

    def await_status(self, id, *wanted):
        """The session's record once it has such a status."""
        found = []
        assert eventually(lambda: found.append(self.session(id)) or found[-1]["status"] in wanted), (found[-1], self.log())
        return found[-1]


class Client:
    """svc-stream-client, which decodes what comes."""

    def __init__(self, url, *options, prefix=()):
        self.process = subprocess.Popen([*prefix, CLIENT, url, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def read(self):
        line = self.process.stdout.readline()
        assert line, f"the client ended with {self.process.wait()}"
        return json.loads(line)

    def connected(self):
        answer = self.read()
        assert answer.get("connected"), answer
        return self

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.read()

    def must(self, *words):
        answer = self.ask(*words)
        assert answer["ok"], (words, answer)
        return answer

    def send(self, type, **data):
        self.must("send", "control", json.dumps({"type": type, "data": data}))

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()


def eventually(condition, limit=PATIENCE):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


class StreamTest(unittest.TestCase):
    """One daemon and one gateway a class; each test makes its own sessions."""

    gateway_settings = {}

    @classmethod
    def setUpClass(cls):
        if reason := missing():
            raise unittest.SkipTest(reason)
        cls.relay_port = harness.free_port("0.0.0.0")
        cls.daemon = harness.Daemon(guest_ports=f"{cls.relay_port}/udp").start()
        cls.programs = []
        try:
            cls.prepare()
        except BaseException:
            cls.end_programs()
            cls.daemon.close()
            raise

    @classmethod
    def prepare(cls):
        cls.daemon.set_config("container.security_updates", "false")  # there is no mirror here
        cls.daemon.add_image("desktop", desktop_image())
        cls.daemon.succeed(cls.daemon.upload("POST", "/1.0/addons", streamer_addon(), name="svc-streamer"))
        reply = cls.daemon.upload("POST", "/1.0/applications", desktop_application(post_start=DEMO_HOOK))
        cls.daemon.succeed(reply)
        cls.daemon.await_app(reply.metadata["resources"]["applications"][0].rsplit("/", 1)[1])
        cls.serve()

    @classmethod
    def serve(cls):
        """Collector and gateway."""
        bridge = cls.daemon.subnet.split("/")[0]
        metrics_log = open(cls.daemon.dir / "metrics.log", "wb")
        cls.programs.append(subprocess.Popen([METRICS, "--listen", f"{bridge}:0", "--metrics-listen", "127.0.0.1:0"],
                                             stdin=subprocess.DEVNULL, stderr=metrics_log))
        metrics_log.close()
        log = lambda: (cls.daemon.dir / "metrics.log").read_text()
        assert eventually(lambda: "ready" in log()), log()
        server = re.search(r"udp://(\S+)", log()).group(1)
        cls.scrape_address = re.search(r"http://(\S+)/metrics", log()).group(1)
        cls.gateway = Gateway(cls.daemon, f"influxdb:{server},raw", **cls.gateway_settings).start()

    @classmethod
    def end_programs(cls):
        for program in cls.programs:
            program.terminate()
            program.wait(timeout=PATIENCE)
        if hasattr(cls, "gateway") and cls.gateway.process.poll() is None:
            cls.gateway.kill(signal.SIGTERM)

    @classmethod
    def tearDownClass(cls):
        cls.end_programs()
        left = cls.daemon.close()
        if left:
            raise AssertionError(f"left behind: {left}")

    def tearDown(self):
        for id in self.gateway.api("GET", "/1.0/sessions").metadata or []:
            self.gateway.api("DELETE", f"/1.0/sessions/{id}?sync=true&force=true")
        assert eventually(lambda: not self.daemon.containers()), self.daemon.containers()

    def client(self, session, *options, **more):
        client = Client(session["url"], *options, **more)
        self.addCleanup(client.close)
        return client

    def scrape(self):
        connection = http.client.HTTPConnection(self.scrape_address, timeout=PATIENCE)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def metric(self, name, **labels):
        """The sum of the series with these labels; None: there is none."""
        found = [float(line.rsplit(" ", 1)[1]) for line in self.scrape().splitlines()
                 if re.match(rf"{name}{{", line) and all(f'{key}="{value}"' in line for key, value in labels.items())]
        return sum(found) if found else None

"""Several svc-gateway on one etcd, on this machine alone and without root, and the instances of their sessions, which are played."""
import http.client
import json
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile

from cluster import PATIENCE, harness, until
from websocket import Refused, WebSocket

PROGRAM = harness.BUILD / "server/gateway/svc-gateway"
LEADER_KEY = "/svc-gateway/manager"
LOST = (OSError, http.client.HTTPException, Refused)


class Gateway:
    """Its state outlives it: start() and kill() may alternate. `managers`: those of its one region."""

    def __init__(self, name, etcd, managers, **settings):
        self.name, self.dir = name, pathlib.Path(tempfile.mkdtemp(prefix="svc-gateway-", dir="/dev/shm"))
        self.port, self.process = harness.free_port(), None
        self.settings = {
            "state_dir": str(self.dir / "state"), "socket": str(self.dir / "socket"), "listen": f"127.0.0.1:{self.port}",
            "metrics_listen": "none", "streamer_addons": [], "store": "etcd", "etcd_endpoints": etcd.members, "gateway_name": name,
            "gateway_listen": f"127.0.0.1:{harness.free_port()}",
            "regions": [{"name": "here", "url": [f"unix://{manager.socket}" for manager in managers]}], **settings}

    def start(self):
        self.begin()
        self.await_word("ready")
        return self

    def begin(self):
        (self.dir / "gateway.yaml").write_text(json.dumps(self.settings))
        with open(self.dir / "gateway.log", "ab") as out:
            self.before = out.tell()
            self.process = subprocess.Popen([PROGRAM, "--config", self.dir / "gateway.yaml"], stdin=subprocess.DEVNULL, stderr=out)

    def await_word(self, text):
        """In the log of this run."""
        log = self.dir / "gateway.log"
        until(f"{self.name} says {text}", lambda: text.encode() in log.read_bytes()[self.before:] or not self.running())
        assert self.running(), self.log()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait(timeout=PATIENCE)
            self.process = None

    def log(self):
        return (self.dir / "gateway.log").read_text(errors="replace")[-6000:]

    def local(self, method, path, body=None):
        return self.call(harness.UnixConnection(self.settings["socket"]), method, path, body, {})

    def api(self, token, method, path, body=None):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=PATIENCE)
        return self.call(connection, method, path, body, {"Authorization": f"macaroon root={token}"})

    def call(self, connection, method, path, body, headers):
        try:
            connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
            response = connection.getresponse()
            return harness.Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def session(self, token, id):
        return self.api(token, "GET", f"/1.0/sessions/{id}").metadata

    def await_status(self, token, id, wanted):
        until(f"session {id} at {self.name} is {wanted}", lambda: self.session(token, id)["status"] == wanted)

    def certificate(self):
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def close(self):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


class Gateways:
    """`with Gateways(etcd, managers) as gateways`: g1, g2, ... that are ready, one of which leads."""

    def __init__(self, etcd, managers, size=3, **settings):
        self.etcd = etcd
        self.gateways = [Gateway(f"g{i + 1}", etcd, managers, **settings) for i in range(size)]

    def __enter__(self):
        try:
            for gateway in self.gateways:
                gateway.start()
            self.leader()
            return self
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        for gateway in self.gateways:
            gateway.close()

    def leading(self):
        """The gateway that holds the lead now; None: none, or one that is dead."""
        holder = self.etcd.values(LEADER_KEY).get(LEADER_KEY)
        name = json.loads(holder).get("host") if holder else None
        return next((g for g in self.gateways if g.name == name and g.running()), None)

    def leader(self):
        return until("a gateway leads", self.leading)

    def followers(self):
        leader = self.leader()
        return [gateway for gateway in self.gateways if gateway is not leader and gateway.running()]


class Instance:
    """The instance of a session, as its user data tells it to behave: what svc-streamer does, without a picture."""

    def __init__(self, etcd, session):
        self.session = session
        self.streaming = until(f"session {session} is launched", lambda: self.user_data(etcd))["streaming"]
        self.socket = None

    def user_data(self, etcd):
        records = (json.loads(value) for value in etcd.values("/svc/records/instances/").values())
        tag = f"session={self.session}"
        return next((json.loads(r["user_data"]) for r in records if tag in r.get("tags", []) and r.get("user_data")), None)

    def urls(self):
        """Of all gateways, in the order in which they are tried."""
        own = self.streaming["control_url"]
        path = own[own.index("/", len("wss://")):]
        return [own, *(other + path for other in self.streaming.get("other_gateways", []))]

    def connect(self):
        self.socket = until(f"a gateway takes the instance of {self.session}", self.connect_once)
        return self

    def connect_once(self):
        for url in self.urls():
            try:
                socket = WebSocket(url, self.streaming["server_name"], self.streaming["server_fingerprint"])
                socket.send(type="ctl:register", session_id=self.session, version="1", codecs=["VP8"])
                return socket
            except LOST:
                continue
        return None

    def await_message(self, type):
        while True:
            message = self.socket.receive()
            if message["type"] == "ctl:ping":
                self.socket.send(type="ctl:pong")
            elif message["type"] == type:
                return message

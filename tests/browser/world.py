"""A gateway with its management service, and guests that are streamed: real programs on this machine, no containers. The
service's runtime is simulated, so a guest here is an X server, svc-stream-demo, svc-agent and svc-streamer, started with
the user data that the gateway gave the instance."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness  # noqa: E402

GATEWAY = harness.BUILD / "server/gateway/svc-gateway"
STREAMER = harness.BUILD / "instance-agent/streamer/svc-streamer"
DEMO = harness.BUILD / "instance-agent/samples/svc-stream-demo"
NEEDED = {"Xvfb": shutil.which("Xvfb"), "svc-streamer": STREAMER.exists(), "svc-stream-demo": DEMO.exists()}
PATIENCE = harness.PATIENCE


def require():
    """For unittest: skips what follows where the streamer cannot be built or run."""
    if missing := [name for name, there in NEEDED.items() if not there]:
        raise unittest.SkipTest("not here: " + ", ".join(missing))


def eventually(condition, what, pause=0.02):
    """Waits for what no program can announce."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if (result := condition()):
            return result
        time.sleep(pause)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


class Program:
    """A child with its log file. Killed with the object at the latest."""

    def __init__(self, folder, name, command, **options):
        self.log_file = pathlib.Path(folder) / f"{name}.log"
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)

    def log(self):
        return self.log_file.read_text(errors="replace")

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


class Gateway:
    """svc-gateway over a management service that listens at `service_socket`; its port stays when it is started again."""

    def __init__(self, folder, service_socket, **settings):
        self.dir, self.process = pathlib.Path(folder) / "gateway", None
        self.dir.mkdir()
        self.settings = {"state_dir": str(self.dir / "state"), "socket": str(self.dir / "unix.socket"), "listen": f"127.0.0.1:{harness.free_port()}",
                         "metrics_listen": "none", "regions": [{"name": "here", "url": f"unix://{service_socket}"}], **settings}

    def start(self):
        config = self.dir / "svc-gateway.yaml"
        config.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in self.settings.items()))
        begin = len(self.process.log()) if self.process else 0
        self.process = Program(self.dir, "svc-gateway", [GATEWAY, "--config", config])
        ready = eventually(lambda: next((line for line in self.process.log()[begin:].splitlines() if "ready " in line), None)
                           or self.process.process.poll() is not None, "svc-gateway is ready")
        assert ready is not True, self.process.log()
        self.url = next(word for word in ready.split() if word.startswith("https://"))
        self.settings["listen"] = self.url.removeprefix("https://")
        return self

    def stop(self, number=signal.SIGTERM):
        return self.process.kill(number)

    def api(self, method, path, body=None):
        """Over the local socket."""
        connection = harness.UnixConnection(self.dir / "unix.socket")
        connection.request(method, path, body=None if body is None else json.dumps(body))
        response = connection.getresponse()
        reply = harness.Reply(response.status, response.headers, response.read())
        connection.close()
        return reply

    def account(self, name):
        reply = self.api("POST", "/1.0/accounts", {"name": name})
        assert reply.status == 201, reply.raw
        return reply.metadata["token"]

    def sessions(self):
        return self.api("GET", "/1.0/sessions?recursion=true").metadata

    def session(self, id):
        reply = self.api("GET", f"/1.0/sessions/{id}")
        return reply.metadata if reply.status == 200 else None


class Guest:
    """What runs in an instance that is streamed; the streamer behind `prefix`."""
    demo_options = []

    def __init__(self, folder, user_data, prefix=()):
        self.prefix = prefix
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="guest-", dir=folder))
        (self.dir / "userdata").write_text(user_data)
        self.user_data = json.loads(user_data)
        self.programs = {}
        try:
            self.display = self.start_display()
            self.run("demo", [DEMO, "--display", self.display, *self.demo_options])
            self.start_agent()
            self.start_streamer()
        except BaseException:
            self.stop()
            raise

    def run(self, name, command, **options):
        self.programs[name] = Program(self.dir, name, command, **options)
        return self.programs[name]

    def start_display(self):
        reading, writing = os.pipe()
        width, height = self.user_data["display_width"], self.user_data["display_height"]
        self.run("display", ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset", "-r"],
                 pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        assert number, self.programs["display"].log()
        return f":{number}"

    def start_agent(self):
        self.run("agent", [harness.AGENT, "--session", self.dir / "session.json", "--api-socket", self.dir / "api.unix",
                           "--guest-socket", self.dir / "guest.unix"])
        eventually(lambda: (self.dir / "guest.unix").exists() and (self.dir / "api.unix").exists(), "the agent's sockets")

    def start_streamer(self):
        self.run("streamer", [*self.prefix, STREAMER, "--user-data", self.dir / "userdata", "--api-socket", self.dir / "api.unix",
                              "--guest-socket", self.dir / "guest.unix", "--session", self.dir / "session.json",
                              "--channels-dir", self.dir, "--download-dir", self.dir / "Downloads", "--gamepad-dir", self.dir / "input",
                              "--display", self.display, *self.streamer_options()])

    def streamer_options(self):
        return []

    def logs(self):
        return "\n".join(f"== {name}\n{program.log()[-3000:]}" for name, program in self.programs.items())

    def stop(self):
        for program in reversed(list(self.programs.values())):
            program.kill(signal.SIGTERM)


class World:
    """Management service, gateway, an account, and a guest for each session that gets one."""
    guest_type = Guest

    def __init__(self, prefix=(), **settings):
        self.prefix = prefix
        self.service = harness.Daemon("simulated")
        self.service.start()
        self.service.add_image()
        self.app = "demo"
        self.service.create_app({"manifest.yaml": f"name: {self.app}\n"})
        # The streamer runs beside the simulated instance: the application needs no addon for it. It waits for the guest's
        # X server, which a machine that is busy brings late.
        self.gateway = Gateway(self.service.dir, self.service.socket, **{"streamer_addons": [], "limits": {"streamer": "2m"}, **settings}).start()
        self.token = self.gateway.account("tester")
        eventually(lambda: self.gateway.api("GET", "/1.0/applications").metadata, "the gateway lists the application")
        self.guests = {}

    def user_data(self, instance):
        """As the service keeps it: the simulated runtime has no file system to put it into."""
        store = sqlite3.connect(f"file:{next(self.service.state.glob('*.db'))}?mode=ro", uri=True)
        try:
            rows = store.execute("SELECT value FROM entries WHERE key LIKE ?", (f"%{instance}",)).fetchall()
        finally:
            store.close()
        return next(record["user_data"] for record in (json.loads(value) for (value,) in rows) if record.get("user_data"))

    def new_session(self):
        """The newest session once it has an instance."""
        def found():
            fresh = [s for s in self.gateway.sessions() if s["id"] not in self.guests and s["container_id"]]
            return fresh and fresh[0]
        return eventually(found, "a session with an instance")

    def start_guest(self):
        """A guest for the newest session; its session's id."""
        session = self.new_session()
        self.guests[session["id"]] = self.guest_type(self.service.dir, self.user_data(session["container_id"]), self.prefix)
        return session["id"]

    def stop_guest(self, session):
        self.guests.pop(session).stop()

    def close(self):
        """What is left behind: an empty list when all is well."""
        for session in list(self.guests):
            self.stop_guest(session)
        self.gateway.stop()
        return self.service.close()

"""A svcd that dies: the programs of tests/crash, told by the environment where to end, and what a client is told meanwhile."""
import base64
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness  # noqa: E402

CRASH = harness.BUILD / "tests/crash"
GONE = (ConnectionError, OSError, EOFError, json.JSONDecodeError, harness.http.client.HTTPException)
PATIENCE = 60  # seconds, for what happens: a machine may have other work
ANSWER = 90  # for one request, which may wait for an operation that long
ENDING = 5  # from a connection that breaks to the end of the process


class Died(Exception):
    """The service ended while it was asked."""


class Service(harness.Daemon):
    """start() and what follows may raise Died; then start() again."""
    program = CRASH / "svcd"
    keeps_events = True  # whoever asks the next one has every event again
    keeps_guests = True

    def __init__(self, runtime="simulated", parent=None, **settings):
        # Kills lose nothing that the kernel has: memory is as good as a disk, and much faster.
        super().__init__(runtime, parent or ("/dev/shm" if runtime == "simulated" else "/var/tmp"), **settings)
        self.addresses, self.log_path = [], self.dir / "svcd.log"
        self.when_stopped = None  # called when the service stops itself at a failpoint; then it is killed

    def command(self):
        command = super().command()
        command[command.index("--listen") + 1] = "none"
        return command

    def start(self, **environment):
        self.addresses = []
        self.process = subprocess.Popen(self.command(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                        env=dict(os.environ, **environment))
        if self.when_stopped:
            threading.Thread(target=self.await_stop, args=(self.process.pid,)).start()
        watch = threading.Timer(PATIENCE, self.process.kill)
        watch.start()
        with open(self.log_path, "ab", buffering=0) as log:
            for line in self.process.stderr:
                log.write(line)
                if line.startswith(b"svcd: ready"):
                    self.addresses = line.decode().split()[2:]
                    break
        hung = not watch.is_alive()
        watch.cancel()
        if not self.addresses:
            self.end()
            assert not hung, f"it neither became ready nor ended: {self.log()}"
            raise Died(self.log())
        # Somebody must read on, or the daemon would block on a full pipe.
        self.reader = threading.Thread(target=self.read_on, args=(self.process.stderr,))
        self.reader.start()
        return self

    def await_stop(self, pid):
        try:
            what = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if what.si_code == os.CLD_STOPPED:
                self.when_stopped()
                os.kill(pid, signal.SIGKILL)
        except ChildProcessError:
            pass  # it has ended, and was waited for

    def log(self):
        return self.log_path.read_text(errors="replace")[-4000:]

    def read_on(self, pipe):
        with open(self.log_path, "ab", buffering=0) as log:
            for line in pipe:
                log.write(line)

    def end(self):
        """The status of a process that has ended or is about to."""
        status = self.process.wait(timeout=PATIENCE)
        if self.addresses:
            self.reader.join(PATIENCE)
        self.process.stderr.close()
        self.process = None
        return status

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            return self.end()

    def died(self):
        """Whether the process has ended; a connection may break a moment before."""
        try:
            self.process.wait(timeout=ENDING)
        except subprocess.TimeoutExpired:
            return False
        return True

    def api(self, *arguments, **options):
        try:
            return super().api(*arguments, **options)
        except TimeoutError as e:
            raise AssertionError(f"no answer to {arguments[:2]}") from e
        except GONE as e:
            if self.died():
                raise Died(str(e)) from e
            raise

    def connection(self):
        return harness.UnixConnection(self.socket, timeout=ANSWER)

    def until(self, what, condition, limit=PATIENCE):
        """The condition's value, once it is true."""
        end = time.monotonic() + limit
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {limit} s: {what}; {self.log()}")

    def operations(self):
        groups = self.api("GET", "/1.0/operations?recursion=1").metadata or {}
        return [record for group in groups.values() for record in group]

    def settle(self):
        """Until nothing is under way: operations that were accepted have reached their final state."""
        self.until("every operation ends", lambda: all(o["status_code"] >= harness.FINAL for o in self.operations()))


class Events(threading.Thread):
    """What a subscriber is sent, until the service ends."""

    def __init__(self, service, since=0):
        super().__init__()
        self.received, self.changed = [], threading.Condition()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(str(service.socket))
            self.socket.sendall((f"GET /1.0/events?since={since} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                 f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\n\r\n").encode())
        except OSError as e:
            self.socket.close()
            raise Died(str(e)) from e
        self.start()

    def run(self):
        with self.socket, self.socket.makefile("rb") as stream:
            try:
                while stream.readline() not in (b"\r\n", b""):
                    pass
                while True:
                    first, second = stream.read(2)
                    size = second & 0x7f
                    if size >= 126:
                        size = struct.unpack(">H", stream.read(2))[0] if size == 126 else struct.unpack(">Q", stream.read(8))[0]
                    text = stream.read(size)
                    if len(text) < size or first & 0xf == 8:
                        return
                    if first & 0xf == 1:
                        with self.changed:
                            self.received.append(json.loads(text))
                            self.changed.notify_all()
            except (OSError, ValueError):
                return

    def stop(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(PATIENCE)
        return self.received

"""What each manager says of everything, for the checker."""
import base64
import pathlib
import socket
import struct
import json
import sys
import threading

import check

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import PATIENCE, until  # noqa: E402


ON_THEIR_WAY = ("created", "prepared", "started")


def end_of(manager):
    containers = records(manager, "containers")
    things = {f"instance {r['name']}": r["status"] for r in containers if r["type"] == "regular"}
    things |= {f"addon {r['name']}": tuple(v["fingerprint"] for v in r["versions"]) for r in records(manager, "addons")}
    return check.End(things, containers, operations(manager), Events(manager).until_quiet())


def records(manager, kind):
    return manager.api("GET", f"/1.0/{kind}?recursion=1").metadata or []


def operation_records(manager):
    groups = manager.api("GET", "/1.0/operations?recursion=1").metadata or {}
    return [record for group in groups.values() for record in group]


def operations(manager):
    return {record["id"]: record["status_code"] for record in operation_records(manager)}


def settle(managers):
    """Until nothing is under way at any of them, and no node is away. What a node that was away has left is brought to an end then."""
    for manager in managers:
        until_none(f"{manager.name} has nodes that are away", lambda m=manager: [r for r in records(m, "nodes") if r["status"] != "online"])
        until_none(f"{manager.name} has instances that stay on their way",
                   lambda m=manager: [r for r in records(m, "containers") if r["status"] in ON_THEIR_WAY])
        until_none(f"{manager.name} has operations that do not end",
                   lambda m=manager: [r for r in operation_records(m) if r["status_code"] < check.FINAL])


def until_none(what, left):
    """`left()`: what there must not be in the end."""
    try:
        until(what, lambda: not left())
    except AssertionError as e:
        raise AssertionError(f"{e}: {left()}") from None


class Events(threading.Thread):
    """What a subscriber is sent from the oldest event that is kept, until the manager ends or stop() is called."""

    def __init__(self, manager, since=0):
        super().__init__(daemon=True)
        self.received, self.changed = [], threading.Condition()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(manager.socket))
        key = base64.b64encode(bytes(16)).decode()
        self.socket.sendall(f"GET /1.0/events?since={since} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.start()

    def run(self):
        with self.socket, self.socket.makefile("rb") as stream:
            try:
                while stream.readline() not in (b"\r\n", b""):
                    pass
                while True:
                    self.take(*frame(stream))
            except (OSError, ValueError, EOFError, struct.error):
                return

    def take(self, opcode, data):
        if opcode == 8:
            raise EOFError
        if opcode == 1:
            with self.changed:
                self.received.append(json.loads(data))
                self.changed.notify_all()

    def until_quiet(self):
        """All that is kept: nothing has come for a second."""
        with self.changed:
            while self.changed.wait(1):
                pass
        return self.stop()

    def stop(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(PATIENCE)
        return self.received


def frame(stream):
    first, second = stream.read(2)
    size = second & 0x7f
    if size >= 126:
        size = struct.unpack(">H", stream.read(2))[0] if size == 126 else struct.unpack(">Q", stream.read(8))[0]
    return first & 0xf, stream.read(size)

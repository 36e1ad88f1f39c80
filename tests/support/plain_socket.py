"""A WebSocket over a local socket that knows data frames alone."""
import base64
import os
import socket
import struct

PATIENCE = 120  # seconds, for what takes a moment on a machine that is not busy
PART = 60000
FINAL, MASKED, TEXT, BINARY, CLOSE = 0x80, 0x80, 1, 2, 8


class PlainSocket:
    """One stream of a command. `local`: the path of the service's socket."""

    def __init__(self, local, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(PATIENCE)
        self.connection.connect(str(local))
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.stream = self.connection.makefile("rb")
        head = list(iter(self.stream.readline, b"\r\n"))
        assert b" 101 " in head[0], head

    def send(self, data):
        for start in range(0, len(data), PART):
            part = data[start:start + PART]
            size = struct.pack("!B", len(part)) if len(part) < 126 else struct.pack("!BH", 126, len(part))
            frame = bytes([FINAL | BINARY, MASKED | size[0]]) + size[1:] + bytes(4) + part  # masked with zeros
            self.connection.sendall(frame)

    def receive(self):
        """The next part; None: the stream has ended."""
        head = self.stream.read(2)
        if not head:
            return None
        kind, size = head[0] & 15, head[1]
        if size == 126:
            size, = struct.unpack("!H", self.stream.read(2))
        elif size == 127:
            size, = struct.unpack("!Q", self.stream.read(8))
        part = self.stream.read(size)
        return None if kind == CLOSE or (kind == TEXT and not part) else part

    def receive_all(self):
        return b"".join(iter(self.receive, None))

    def close(self):
        self.stream.close()
        self.connection.close()

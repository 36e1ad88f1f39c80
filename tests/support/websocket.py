"""A WebSocket client that knows text frames, pings and the close, over TLS whose certificate is pinned."""
import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import urllib.parse


class Refused(Exception):
    """The server answered something else than 101."""

    def __init__(self, status):
        super().__init__(f"HTTP status {status}")
        self.status = status


class WebSocket:
    def __init__(self, url, server_name=None, fingerprint=None, timeout=60):
        address = urllib.parse.urlsplit(url)
        plain = socket.create_connection((address.hostname, address.port), timeout)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(plain, server_hostname=server_name or address.hostname)
        if fingerprint and hashlib.sha256(self.socket.getpeercert(True)).hexdigest() != fingerprint:
            self.socket.close()
            raise ConnectionError("the server's certificate is another one")
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {address.path}?{address.query} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.stream = self.socket.makefile("rb")
        self.read_answer()

    def read_answer(self):
        words = self.stream.readline().split()
        if not words:
            raise ConnectionError("no answer")
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        if words[1] != b"101":
            self.close()
            raise Refused(int(words[1]))

    def send(self, **message):
        self.send_frame(1, json.dumps(message).encode())

    def send_frame(self, opcode, data):
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(data))
        self.socket.sendall(head + bytes(4) + data)  # masked with zeros

    def receive(self):
        """The next message as JSON. Raises ConnectionError when the connection has ended."""
        while True:
            opcode, data = self.frame()
            if opcode == 9:
                self.send_frame(10, data)
            elif opcode == 8:
                raise ConnectionError(f"closed: {data[2:].decode(errors='replace')}")
            elif opcode == 1:
                return json.loads(data)

    def frame(self):
        first, second = self.exactly(2)
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self.exactly(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.exactly(8))[0]
        return first & 0x0F, self.exactly(size)

    def exactly(self, count):
        data = self.stream.read(count)
        if len(data) < count:
            raise ConnectionError("the connection broke")
        return data

    def close(self):
        self.stream.close()
        self.socket.close()

"""Sends many requests that start operations over a few connections, each waiting for its operation before the next."""
import json
import selectors
import socket

FINAL = 200


class Connection:
    """One request at a time: the one that starts an operation, then the wait for its end."""

    def __init__(self, path, requests, done):
        self.requests, self.done = requests, done
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(path))
        self.received, self.waiting = b"", False

    def send_next(self):
        """False: nothing is left to send."""
        request = next(self.requests, None)
        if request is None:
            self.sock.close()
            return False
        self.waiting = False
        self.sock.sendall(request)
        return True

    def take(self):
        """Reads what has come. True: the answer is whole, and the next request can go."""
        self.received += self.sock.recv(65536)
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return False
        length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")).split(b":")[1])
        if len(body) < length:
            return False
        self.received = b""
        return self.answered(head, json.loads(body))

    def answered(self, head, reply):
        if self.waiting:
            record = reply["metadata"]
            assert record["status_code"] == FINAL, record
            self.done(record)
            return True
        assert head.startswith(b"HTTP/1.1 202"), (head, reply)
        self.waiting = True
        self.sock.sendall(request("GET", f"/1.0/operations/{reply['metadata']['id']}/wait?timeout=100"))
        return False


def request(method, path, body=None):
    text = b"" if body is None else json.dumps(body).encode()
    return f"{method} {path} HTTP/1.1\r\nHost: svc\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text


def send_all(path, requests, at_once=64):
    """The final records of the operations, in the order of their ends."""
    records, selector, open_ones = [], selectors.DefaultSelector(), 0
    requests = iter(requests)
    for _ in range(at_once):
        connection = Connection(path, requests, records.append)
        if connection.send_next():
            selector.register(connection.sock, selectors.EVENT_READ, connection)
            open_ones += 1
    while open_ones:
        for key, _ in selector.select():
            if key.data.take():
                selector.unregister(key.data.sock)
                if key.data.send_next():
                    selector.register(key.data.sock, selectors.EVENT_READ, key.data)
                else:
                    open_ones -= 1
    return records

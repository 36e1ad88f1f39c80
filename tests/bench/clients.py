"""Speaks to svcd and to LXD, which take the same kind of requests: one kept connection a thread, so that the driver of a
measurement costs each of them the same, and little."""
import http.client
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness

SUCCESS = 200


class Api:
    def __init__(self, socket):
        self.socket, self.own = socket, threading.local()

    def call(self, method, path, body=None):
        """The answer's `metadata`; waits for the operation where there is one."""
        answer = self.request(method, path, body)
        if answer["type"] == "async":
            operation = answer["metadata"]["id"]
            answer = self.request("GET", f"/1.0/operations/{operation}/wait?timeout=120")
            if answer["metadata"]["status_code"] != SUCCESS:
                raise RuntimeError(f"{method} {path}: {answer['metadata']['err'] or answer['metadata']['status']}")
        return answer["metadata"]

    def request(self, method, path, body=None):
        try:
            return self.send(method, path, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):  # what was idle may have been closed
            self.own.connection = None
            return self.send(method, path, body)

    def send(self, method, path, body):
        connection = getattr(self.own, "connection", None)
        if connection is None:
            connection = self.own.connection = harness.UnixConnection(self.socket, timeout=150)
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        if answer["type"] == "error":
            raise RuntimeError(f"{method} {path}: {answer['error']}")
        return answer

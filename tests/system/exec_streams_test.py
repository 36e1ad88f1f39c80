#!/usr/bin/env python3
"""Clients of commands that close their sockets and say nothing: what they sent counts, what they wait for comes."""
import os
import threading

import harness
from plain_socket import PlainSocket


class ExecStreams(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        cls.daemon.add_image()
        cls.id = cls.daemon.launch()

    def run_with(self, data, *command):
        """Output, errors and exit code of a command whose input ends with its connection."""
        reply = self.daemon.api("POST", f"/1.0/containers/{self.id}/exec", {"command": command})
        secrets = reply.metadata["metadata"]["fds"]
        path = "/" + reply.body["operation"] + "/websocket?secret="
        sockets = [PlainSocket(self.daemon.socket, path + secrets[fd]) for fd in ("0", "1", "2")]
        sender = threading.Thread(target=lambda: (sockets[0].send(data), sockets[0].close()))
        sender.start()
        streams = [one.receive_all() for one in sockets[1:]]
        sender.join()
        for one in sockets[1:]:
            one.close()
        return *streams, self.daemon.succeed(reply)["metadata"]["return"]

    def test_a_command_goes_on_when_its_input_has_ended(self):
        script = "cat; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo counted; echo words >&2; exit 7"
        for _ in range(20):
            self.assertEqual(self.run_with(b"said\n", "sh", "-c", script), (b"said\ncounted\n", b"words\n", 7))

    def test_all_that_was_sent_is_there(self):
        self.assertEqual(self.run_with(bytes(20_000_000), "wc", "-c")[0].strip(), b"20000000")
        data = os.urandom(5_000_000)
        slowly = self.run_with(data, "sh", "-c", "sleep 1; cat")  # there is more than fits on the way
        self.assertEqual(slowly, (data, b"", 0))

    def test_a_command_in_a_pipe(self):
        data = os.urandom(3_000_000)
        done = self.daemon.ctl("exec", self.id, "--", "sh", "-c", "cat; exit 3", input=data)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (data, b"", 3))
        empty = self.daemon.ctl("exec", self.id, "--", "sh", "-c", "cat; echo end", input=b"")
        self.assertEqual((empty.stdout, empty.returncode), (b"end\n", 0))


if __name__ == "__main__":
    harness.cases.main()

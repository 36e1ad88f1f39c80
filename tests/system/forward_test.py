#!/usr/bin/env python3
"""Ports of this machine that lead into an instance."""
import os
import pathlib
import signal
import socket
import subprocess
import threading

import harness

ECHO = 7000
WEB = 8000
ADB = """#!/bin/sh
echo "$@" >>"$ADB_LOG"
case $1 in
connect) curl -fs "http://$2/index.html" >/dev/null && echo "connected to $2" || echo "failed to connect to '$2'" ;;
-s) curl -fs "http://$2/index.html"; [ "$3" = absent ] && exit 127; exit 7 ;;
esac
"""


class Forwards(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        cls.daemon.add_image()
        cls.id = cls.daemon.launch(name="phone")
        cls.daemon.execute(cls.id, "sh", "-ec", f"mkdir -p /srv; echo it works >/srv/index.html; httpd -p 127.0.0.1:{WEB} -h /srv; "
                           f"nc -ll -p {ECHO} -e cat </dev/null >/dev/null 2>&1 &")

    def forward(self, *forwards):
        """Where it listens, one for each."""
        process = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "forward", "phone", *forwards],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.process = process
        return [process.stdout.readline().split(" -> ")[0] for _ in forwards]

    def end(self, process):
        """It ends without an error, and its errors are these."""
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        return errors

    def connect(self, address):
        if address.startswith("unix:"):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(address[len("unix:"):])
        else:
            host, port = address.rsplit(":", 1)
            connection = socket.create_connection((host, int(port)))
        connection.settimeout(harness.PATIENCE)
        self.addCleanup(connection.close)
        return connection

    def answer(self, address, request):
        with self.connect(address) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def get(self, address, path="/index.html"):
        return self.answer(address, f"GET {path} HTTP/1.0\r\nHost: x\r\n\r\n".encode())

    def test_a_port_and_a_socket_lead_to_servers_of_the_instance(self):
        local = f"unix:{self.daemon.dir}/web.unix"
        web, same, api = self.forward(f":{WEB}", f"{local}:{WEB}", "0:unix:/run/svc/api.unix")
        self.assertTrue(web.startswith("127.0.0.1:"), web)
        self.assertEqual(same, local)
        self.assertIn(b"it works", self.get(web))
        self.assertIn(b"it works", self.get(same))
        self.assertIn(b"200 OK", self.get(api, "/1.0"))

    def test_bytes_arrive_whole_in_both_directions_at_once(self):
        echo, = self.forward(f":{ECHO}")
        data = os.urandom(8 << 20)
        with self.connect(echo) as connection:
            def send():
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            sender = threading.Thread(target=send)
            sender.start()
            received = b"".join(iter(lambda: connection.recv(65536), b""))
            sender.join()
        self.assertEqual(len(received), len(data))
        self.assertEqual(received, data)

    def test_connections_do_not_wait_for_each_other(self):
        echo, web = self.forward(f":{ECHO}", f":{WEB}")
        open_ones = [self.connect(echo) for _ in range(5)]
        self.assertIn(b"it works", self.get(web))
        for number, connection in enumerate(reversed(open_ones)):
            connection.sendall(str(number).encode())
            self.assertEqual(connection.recv(10), str(number).encode())

    def test_where_nothing_listens_the_connection_ends_and_the_reason_is_told(self):
        nothing, echo = self.forward(":9", f":{ECHO}")
        self.assertEqual(self.answer(nothing, b"hello"), b"")
        self.assertEqual(self.answer(echo, b"hello"), b"hello")
        self.assertEqual(self.end(self.process), "Error: 9: cannot connect to 9: Connection refused\n")

    def test_nothing_is_left_in_the_instance_after_the_end(self):
        echo, = self.forward(f":{ECHO}")
        connection = self.connect(echo)
        connection.sendall(b"x")
        self.assertEqual(connection.recv(1), b"x")
        self.assertEqual(self.end(self.process), "")
        self.assertEqual(connection.recv(1), b"")
        self.daemon.eventually(lambda: "svc-agent connect" not in self.daemon.execute(self.id, "ps"))

    def test_adb_reaches_its_daemon_through_a_forward(self):
        """With a program that stands for adb, and a web server for adbd."""
        programs = pathlib.Path(self.daemon.dir) / "programs"
        programs.mkdir()
        (programs / "adb").write_text(ADB)
        (programs / "adb").chmod(0o755)
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "ADB_LOG": str(programs / "log")}

        def adb(*words):
            return subprocess.run([harness.SVCCTL, "--socket", self.daemon.socket, "adb", "phone", *words], env=environment,
                                  capture_output=True, text=True, timeout=harness.PATIENCE)

        done = adb("--port", str(WEB), "--", "shell", "two words", "$HOME")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "it works\n", ""))
        connect, shell, disconnect = (programs / "log").read_text().splitlines()
        address = connect.split()[1]
        self.assertEqual(connect, f"connect {address}")
        self.assertEqual(shell, f"-s {address} shell two words $HOME")
        self.assertEqual(disconnect, f"disconnect {address}")
        self.assertEqual(adb("--port", str(WEB), "--", "absent").returncode, 127)
        done = adb("--port", "9", "--", "shell")
        self.assertEqual(done.returncode, 3)
        self.assertIn("adb cannot connect: failed to connect", done.stderr)
        (programs / "adb").unlink()
        environment["PATH"] = str(programs)
        self.assertIn("adb is not installed", adb("--", "devices").stderr)

    def test_what_cannot_listen_is_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = self.daemon.ctl("forward", "phone", f"{port}:80")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"127.0.0.1:{port}".encode(), done.stderr)


if __name__ == "__main__":
    harness.cases.main()

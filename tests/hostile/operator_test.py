#!/usr/bin/env python3
"""Root on the local socket, trusted clients and instances are served while others fill every listener."""
import http.client
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import unittest

from crowd import Crowd, address, half_of_a_handshake, harness, head, memory, over_tcp, over_tls, over_unix

MIB = 1 << 20
GROWTH = 64 * MIB  # of the service, whatever comes in; what bodies alone may take is max_buffered
PATIENT = {"header_timeout": "10m", "body_timeout": "10m", "write_timeout": "10m", "keep_alive": "10m", "min_rate": 0}


def certificate(folder):
    files = folder / "client.crt", folder / "client.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=operator", "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


class World(unittest.TestCase):
    """Timeouts that help nobody: what a crowd holds it keeps until it goes."""
    settings = {"max_connections": 400, "max_websockets": 200}
    files = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-hostile-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.daemon = harness.Daemon("simulated", metrics_listen="127.0.0.1:0", hypervisor_listen="127.0.0.1:0",
                                     **PATIENT, **self.settings)
        self.daemon.files = self.files
        self.daemon.start()
        self.addCleanup(self.close)
        self.daemon.add_image()
        self.instance = self.daemon.launch()
        self.certificate = certificate(self.folder)
        added = self.daemon.api("POST", "/1.0/certificates", {"certificate": self.certificate[0].read_text()})
        self.assertEqual(added.status, 200)
        self.tls, self.metrics, self.hypervisor = self.daemon.addresses[1:4]
        self.agents = self.daemon.state / "agent/server.unix"
        self.begin = memory(self.daemon.process.pid)

    def close(self):
        self.assertEqual(self.daemon.close(), [])

    def token(self):
        from hostile import jwt  # of the system tests
        secret = (self.daemon.state / "tokens.key").read_bytes()
        claims = {"sub": self.instance, "scope": ["artifacts", "status"], "iat": 0, "exp": 1 << 33}
        return "Authorization: bearer " + jwt(secret, claims)

    def check_operator(self):
        listed = self.daemon.ctl("list", "--format", "json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn(self.instance, listed.stdout.decode())
        self.assertEqual(self.daemon.api("GET", "/1.0").metadata["auth"], "trusted")
        other = self.daemon.launch()
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{other}"))
        grown = memory(self.daemon.process.pid) - self.begin
        self.assertLess(grown, GROWTH, f"{grown / MIB:.0f} MiB more than at the beginning")

    def check_trusted_client(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(*self.certificate)
        client = http.client.HTTPSConnection(*address(self.tls), context=context, timeout=harness.PATIENCE)
        client.request("GET", "/1.0/containers")
        self.assertEqual(client.getresponse().status, 200)
        client.close()

    def instance_is_served(self):
        try:
            client = over_unix(self.agents)(0)
            client.sendall(head("GET /1.0/artifacts", self.token(), "Connection: close"))
            answer = client.recv(100)
            client.close()
            return answer.startswith(b"HTTP/1.1 200")
        except OSError:
            return False


class Operator(World):
    def test_clients_of_the_instances_socket(self):
        report = f"PATCH /1.0/instances/{self.instance}"
        kinds = {
            "idle": b"",
            "half of a header": b"GET /1.0/artifacts HTTP/1.1\r\nX: " + b"x" * 30000,
            "body without token": head(report, "Content-Length: 60000") + b" " * 59999,
            "body with a wrong token": head(report, "Authorization: bearer x", "Content-Length: 60000") + b" " * 59999,
            "half of a body": head(report, self.token(), "Content-Length: 60000") + b" " * 59999,
            "half of a chunk": head(report, self.token(), "Transfer-Encoding: chunked") + b"ea60\r\n" + b" " * 59999,
            "reads nothing": head("GET /1.0/artifacts", self.token()) * 500,
        }
        for kind, text in kinds.items():
            with self.subTest(kind), Crowd(over_unix(self.agents), text) as crowd:
                self.check_operator()
                self.check_trusted_client()
                self.assertLessEqual(crowd.still_open(), 64)
        self.assertTrue(self.daemon.eventually(self.instance_is_served))

    def test_clients_over_tls(self):
        addresses = [f"127.0.0.{number}" for number in range(2, 12)]
        password = head("POST /1.0/certificates", "Content-Length: 60000") + b" " * 59999
        crowds = {
            "idle": lambda: Crowd(over_tcp(self.tls, addresses)),
            "half of a handshake": lambda: Crowd(over_tcp(self.tls, addresses), half_of_a_handshake()),
            "half of a header": lambda: Crowd(over_tls(self.tls, addresses), b"GET /1.0 HTTP/1.1\r\nX: " + b"x" * 30000),
            "half of a body": lambda: Crowd(over_tls(self.tls, addresses), password),
            "reads nothing": lambda: Crowd(over_tls(self.tls, addresses), head("GET /1.0") * 300),
            "idle, of the hypervisor's metrics": lambda: Crowd(over_tcp(self.hypervisor, addresses)),
            "idle, of the metrics": lambda: Crowd(over_tcp(self.metrics, addresses)),
        }
        for kind, make in crowds.items():
            with self.subTest(kind), make() as crowd:
                self.check_operator()
                self.check_trusted_client()
                self.assertLessEqual(crowd.still_open(), 200)
        self.assertTrue(self.instance_is_served())

    def test_websockets_of_trusted_clients(self):
        upgrade = head("GET /1.0/events", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        with Crowd(over_tls(self.tls, certificate=self.certificate), upgrade):
            self.check_operator()
            ended = self.daemon.ctl("exec", self.instance, "--", "true")  # three WebSockets
            self.assertNotIn(b"too many", ended.stderr)

    def test_all_at_once(self):
        body = head(f"PATCH /1.0/instances/{self.instance}", self.token(), "Content-Length: 60000") + b" " * 59999
        with Crowd(over_unix(self.agents), body), Crowd(over_tcp(self.tls), half_of_a_handshake()), \
                Crowd(over_tls(self.tls, ["127.0.0.3"]), head("GET /1.0") * 300), Crowd(over_tcp(self.metrics), b"GET /"):
            self.check_operator()
            self.check_trusted_client()
        self.assertTrue(self.daemon.eventually(self.instance_is_served))


class FewFiles(World):
    """The default of max_connections, and far fewer files than that."""
    settings = {}
    files = (512, 512)

    def test_a_process_with_few_files(self):
        addresses = [f"127.0.0.{number}" for number in range(2, 12)]
        with Crowd(over_unix(self.agents)), Crowd(over_tcp(self.tls, addresses)), Crowd(over_tcp(self.metrics, addresses)), \
                Crowd(over_tcp(self.hypervisor, addresses)):
            self.check_operator()


if __name__ == "__main__":
    harness.cases.main()

#!/usr/bin/env python3
"""Images from an image server: a directory, and one over HTTP and HTTPS."""
import base64
import functools
import http.server
import os
import pathlib
import select
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import unittest

import harness

sys.path[:0] = [str(harness.ROOT / "tests/images"), str(harness.ROOT / "tests/support")]
import registry_server  # noqa: E402
import simplestreams  # noqa: E402


def package(text="hello", folder=None):
    data = harness.package({"metadata.yaml": "architecture: x86_64\ncreation_date: 1\n", "rootfs/etc/motd": text}, "gz")
    file = pathlib.Path(folder) / f"{text}.tar.gz"
    file.write_bytes(data)
    return file


def eventually(daemon, condition):
    assert daemon.eventually(condition), daemon.log()


class FileServer(http.server.SimpleHTTPRequestHandler):
    """Asks for `authorization` where the server has one."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path.startswith("http://"):  # as a proxy's client asks
            self.path = "/" + self.path.split("/", 3)[3]
        wanted = getattr(self.server, "authorization", None)
        if wanted and self.headers.get("Authorization") != wanted:
            self.send_error(401)
        else:
            super().do_GET()

    def do_CONNECT(self):
        """As a proxy: on to `behind`, whatever was asked for."""
        self.server.asked.append(self.path)
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", self.server.behind)) as other:
            self.send_response(200)
            self.end_headers()
            way = {self.connection: other, other: self.connection}
            while True:
                for end in select.select(list(way), [], [])[0]:
                    data = end.recv(65536)
                    if not data:
                        return
                    way[end].sendall(data)


class ImageServerTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="svc-images-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.server = self.dir / "server"
        self.daemon = harness.Daemon("simulated")
        self.addCleanup(lambda: self.assertEqual(self.daemon.close(), []))
        self.daemon.start()

    def offer(self, *images):
        """(name, version, text) or (name, version, text, release) each."""
        simplestreams.make_server(self.server, [(image[0], image[1], package(image[2], self.dir), (*image, "")[3])
                                                for image in images])

    def follow(self, url=None):
        self.daemon.set_config("images.update_interval", "1s")
        self.daemon.set_config("images.url", url or f"file://{self.server}")

    def versions(self, name):
        reply = self.daemon.api("GET", f"/1.0/images/{name}")
        return [v["remote_id"] for v in reply.metadata["versions"] if v["status"] == "active"] if reply.status == 200 else []

    def await_versions(self, name, *versions):
        eventually(self.daemon, lambda: self.versions(name) == list(versions))

    def serve(self, context=None):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(FileServer, directory=self.server))
        server.asked = []
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(lambda: (server.shutdown(), server.server_close(), thread.join()))
        return server

    def test_images_come_and_follow_their_server(self):
        self.offer(("jammy:amd64", "20240101", "one"))
        self.follow()
        self.await_versions("jammy:amd64", "20240101")
        image = self.daemon.api("GET", "/1.0/images/jammy:amd64").metadata
        self.assertTrue(image["immutable"])
        self.daemon.launch("jammy:amd64")
        self.offer(("jammy:amd64", "20240101", "one"), ("jammy:amd64", "20240102", "two"))
        self.await_versions("jammy:amd64", "20240101", "20240102")
        self.assertEqual(self.daemon.api("DELETE", "/1.0/images/jammy:amd64", {}).status, 403)

    def test_what_does_not_fit_stays_away(self):
        self.offer(("jammy:arm64", "1", "arm"), ("other:amd64", "1", "other", "999.1.0"), ("good:amd64", "1", "good"))
        self.follow()
        self.await_versions("good:amd64", "1")
        names = [i["name"] for i in self.daemon.api("GET", "/1.0/images?recursion=1").metadata]
        self.assertEqual(names, ["good:amd64"])
        self.daemon.set_config("images.version_lockstep", "false")
        self.await_versions("other:amd64", "1")

    def test_a_package_with_another_fingerprint_never_becomes_visible(self):
        wrong = simplestreams.version_record(self.server, "jammy:amd64", "1", package("x", self.dir), "0" * 64)
        products = {"jammy:amd64": {"aliases": "jammy:amd64", "arch": "amd64", "versions": {"1": wrong}}}
        simplestreams.write_index(self.server, products)
        self.daemon.set_config("images.url", f"file://{self.server}")
        eventually(self.daemon, lambda: any("fingerprint don't match" in o["err"] for o in self.operations()))
        self.assertEqual(self.daemon.api("GET", "/1.0/images").metadata, [])
        self.assertEqual([f for f in (self.daemon.state / "blobs").rglob("*") if f.is_file()], [])

    def operations(self):
        groups = self.daemon.api("GET", "/1.0/operations?recursion=1").metadata
        return [operation for group in groups.values() for operation in group or []]

    def test_one_image_is_asked_for(self):
        self.offer(("jammy:amd64", "1", "one", "999.1.0"), ("jammy:amd64", "2", "two", "999.1.0"))
        self.daemon.set_config("images.url", f"file://{self.server}")
        body = {"name": "mine", "path": "jammy:amd64@1", "default": True}
        json = {"Content-Type": "application/json"}
        self.daemon.succeed(self.daemon.api("POST", "/1.0/images", body, json))
        self.assertEqual(self.versions("mine"), ["1"])
        self.assertEqual(self.daemon.api("POST", "/1.0/images", {"name": "x", "path": "absent"}, json).status, 404)
        self.assertEqual(self.daemon.api("POST", "/1.0/images", body, json).status, 409)

    def test_plain_http_with_a_password_where_it_is_allowed(self):
        self.offer(("jammy:amd64", "1", "one"))
        server = self.serve()
        server.authorization = "Basic " + base64.b64encode(b"user:word").decode()
        self.follow(f"http://127.0.0.1:{server.server_port}")
        self.daemon.set_config("images.allow_insecure", "true")
        eventually(self.daemon, lambda: "401" in self.daemon.whole_log())
        self.assertEqual(self.versions("jammy:amd64"), [])
        self.daemon.set_config("images.auth", "user:word")
        self.await_versions("jammy:amd64", "1")

    def test_the_way_leads_through_a_proxy(self):
        self.offer(("jammy:amd64", "1", "one"))
        server = self.serve()
        self.daemon.set_config("images.allow_insecure", "true")
        self.daemon.set_config("core.proxy_http", f"http://127.0.0.1:{server.server_port}")
        self.follow("http://images.invalid")
        self.await_versions("jammy:amd64", "1")
        self.assertTrue(all(path.startswith("http://images.invalid:80/") for path in server.asked), server.asked)
        self.daemon.set_config("core.proxy_http", "http://127.0.0.1:1")  # nobody is there
        self.daemon.set_config("core.proxy_ignore_hosts", "localhost,127.0.0.1")
        self.offer(("jammy:amd64", "2", "two"))
        self.daemon.set_config("images.url", f"http://127.0.0.1:{server.server_port}")
        self.await_versions("jammy:amd64", "1", "2")

    def test_https_has_a_proxy_of_its_own(self):
        self.offer(("jammy:amd64", "1", "one"))
        certificate, key = registry_server.make_certificate(self.dir, "images")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        proxy = self.serve()
        proxy.behind = self.serve(context).server_port
        self.daemon.set_config("images.allow_insecure", "true")
        self.daemon.set_config("core.proxy_https", f"http://127.0.0.1:{proxy.server_port}")
        self.follow("https://images.invalid")
        self.await_versions("jammy:amd64", "1")
        self.assertEqual(set(proxy.asked), {"images.invalid:443"})

    def test_a_new_version_is_asked_for(self):
        self.offer(("jammy:amd64", "1", "one"))
        self.daemon.set_config("images.update_interval", "1h")
        self.daemon.set_config("images.url", f"file://{self.server}")
        self.await_versions("jammy:amd64", "1")
        self.offer(("jammy:amd64", "2", "two"))
        headers = {"Content-Type": "application/json"}
        body = {"force_sync": True}  # refused as long as the first version is being added
        eventually(self.daemon, lambda: self.daemon.api("PATCH", "/1.0/images/jammy:amd64", body, headers).status == 202)
        self.await_versions("jammy:amd64", "1", "2")

    def test_a_server_with_tls_must_have_a_certificate_of_the_systems_authorities(self):
        self.offer(("jammy:amd64", "1", "one"))
        certificate, key = registry_server.make_certificate(self.dir, "images")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.follow(f"https://127.0.0.1:{self.serve(context).server_port}")
        eventually(self.daemon, lambda: "certificate is not the expected one" in self.daemon.whole_log())
        self.assertEqual(self.versions("jammy:amd64"), [])
        os.environ["SSL_CERT_FILE"] = str(certificate)
        self.addCleanup(os.environ.pop, "SSL_CERT_FILE")
        self.daemon.restart()
        self.await_versions("jammy:amd64", "1")

    def test_killed_while_images_come(self):
        for round in range(4):
            self.offer((f"image{round}:amd64", "1", f"text{round}"))
            self.follow()
            for _ in range(round):
                self.daemon.api("GET", "/1.0/operations")
            self.daemon.restart()
            self.await_versions(f"image{round}:amd64", "1")


if __name__ == "__main__":
    harness.cases.main()

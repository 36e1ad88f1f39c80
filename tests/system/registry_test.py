#!/usr/bin/env python3
"""Two services and one registry: a directory, and the small HTTPS server of tests/support."""
import base64
import pathlib
import shutil
import ssl
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests/support"))
import registry_server  # noqa: E402

SECOND = {"manifest.yaml": "name: candy\nversion: second\ntags: [game]\n"}


def image():
    return harness.package({"metadata.yaml": "architecture: x86_64\ncreation_date: 1\n", "rootfs/etc/motd": "hello\n"}, "gz")


def eventually(daemon, condition):
    assert daemon.eventually(condition), daemon.log()


class TwoServices(unittest.TestCase):
    """Both on the simulated runtime: what travels is what its layers export."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="svc-registry-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.publisher, self.client = self.start(), self.start()
        self.publisher.succeed(self.publisher.upload("POST", "/1.0/images", image(), name="base"))

    def start(self):
        daemon = harness.Daemon("simulated")
        self.addCleanup(lambda: self.assertEqual(daemon.close(), []))
        return daemon.start()

    def follow(self, daemon, url, mode, **settings):
        for key, value in {**settings, "mode": mode, "update_interval": "1s", "url": url}.items():
            daemon.set_config(f"registry.{key}", value)

    def create(self, name="candy", tags="[game]"):
        return self.publisher.create_app({"manifest.yaml": f"name: {name}\ntags: {tags}\n"})

    @staticmethod
    def begin(daemon, transfer):
        eventually(daemon, lambda: daemon.api("POST", f"/1.0/registry/applications/candy/{transfer}").status == 202)

    @staticmethod
    def names(daemon):
        return sorted(a["name"] for a in daemon.api("GET", "/1.0/applications?recursion=1").metadata)

    @staticmethod
    def offered(daemon):
        return {a["name"]: sorted(map(int, a["versions"])) for a in daemon.api("GET", "/1.0/registry/applications").metadata}

    def active(self, daemon, number, name="candy"):
        reply = daemon.api("GET", f"/1.0/applications/{name}")
        return reply.status == 200 and any(v["number"] == number and v["status"] == "active" and v["published"]
                                           for v in reply.metadata["versions"])

    def story(self):
        """What both kinds of registry must carry; they are configured already."""
        self.create()
        eventually(self.publisher, lambda: self.offered(self.publisher) == {"candy": [0]})
        eventually(self.client, lambda: self.active(self.client, 0))
        self.assertTrue(self.client.application("candy")["immutable"])
        self.client.launch_app("candy")
        self.publisher.succeed(self.publisher.upload("PATCH", "/1.0/applications/candy", harness.package(SECOND)))
        eventually(self.client, lambda: self.active(self.client, 1))
        self.assertEqual(self.client.version("candy", 1)["manifest_version"], "second")
        self.assertEqual(self.client.api("PATCH", "/1.0/applications/candy", {"tags": []}).status, 403)
        self.publisher.succeed(self.publisher.api("DELETE", "/1.0/registry/applications/candy"))
        eventually(self.client, lambda: self.names(self.client) == [])
        self.assertEqual(len(self.client.containers()), 1)  # goes on running
        self.assertEqual(self.offered(self.publisher), {})  # what was deleted on purpose does not come back


class Directory(TwoServices):
    def setUp(self):
        super().setUp()
        self.shelf = self.dir / "shelf"
        self.url = f"file://{self.shelf}"

    def test_applications_travel_by_themselves(self):
        self.follow(self.publisher, self.url, "push")
        self.follow(self.client, self.url, "pull")
        self.story()

    def test_routes_and_commands_of_manual_mode(self):
        self.assertEqual(self.client.api("GET", "/1.0/registry/applications").error, "registry not configured")
        for daemon in (self.publisher, self.client):
            self.follow(daemon, self.url, "manual")
        self.create()
        pushed = self.publisher.api("POST", "/1.0/registry/applications/candy/push")
        self.assertEqual(pushed.metadata["description"], "Pushing application")
        self.publisher.succeed(pushed)
        self.assertEqual(self.names(self.client), [])
        self.assertIn(b"candy", self.client.ctl("registry", "list").stdout)
        pulled = self.client.ctl("registry", "pull", "candy")
        self.assertEqual(pulled.returncode, 0, pulled)
        self.assertTrue(self.active(self.client, 0))
        self.assertEqual(self.client.api("POST", "/1.0/registry/applications/absent/push").status, 404)
        record = self.client.wait(self.client.api("POST", "/1.0/registry/applications/absent/pull"))
        self.assertIn("not found", record["err"])

    def test_each_mode_allows_its_direction_alone(self):
        self.follow(self.publisher, self.url, "push")
        self.create()
        eventually(self.publisher, lambda: self.offered(self.publisher) == {"candy": [0]})
        self.follow(self.client, self.url, "pull")
        eventually(self.client, lambda: self.active(self.client, 0))
        for daemon, action in ((self.publisher, "pull"), (self.client, "push")):
            reply = daemon.api("POST", f"/1.0/registry/applications/candy/{action}")
            self.assertEqual(reply.status, 400)
            self.assertIn("not allowed", reply.error)

    def test_a_filter_keeps_others_away(self):
        self.follow(self.publisher, self.url, "push")
        self.create()
        self.create("work", "[office]")
        eventually(self.publisher, lambda: len(self.offered(self.publisher)) == 2)
        self.follow(self.client, self.url, "pull", filter="office,other")
        eventually(self.client, lambda: self.active(self.client, 0, "work"))
        self.assertEqual(self.names(self.client), ["work"])

    def test_a_damaged_archive_never_becomes_visible(self):
        self.follow(self.publisher, self.url, "push")
        self.create()
        eventually(self.publisher, lambda: self.offered(self.publisher) == {"candy": [0]})
        archive = self.shelf / "candy/0/x86_64/archive.tar.gz"
        good = archive.read_bytes()
        archive.write_bytes(good[:-8] + bytes(8))
        self.follow(self.client, self.url, "manual")
        record = self.client.wait(self.client.api("POST", "/1.0/registry/applications/candy/pull"))
        self.assertIn("fingerprint don't match", record["err"])
        self.assertEqual(self.names(self.client), [])
        archive.write_bytes(good)
        self.client.set_config("registry.mode", "pull")
        eventually(self.client, lambda: self.active(self.client, 0))

    def test_killed_in_the_middle_of_a_pull(self):
        self.follow(self.publisher, self.url, "push")
        self.create()
        eventually(self.publisher, lambda: self.offered(self.publisher) == {"candy": [0]})
        self.follow(self.client, self.url, "manual")
        for delay in range(6):
            reply = self.client.api("POST", "/1.0/registry/applications/candy/pull")
            for _ in range(delay):
                self.client.api("GET", "/1.0/operations")
            self.client.restart()
            for application in self.client.api("GET", "/1.0/applications?recursion=1").metadata:
                self.assertIn(application["status"], ("ready", "initializing"))
            # Or the next one would join a pull whose application is deleted here.
            self.assertEqual(self.client.wait(reply)["err"], "")
            self.assertTrue(self.active(self.client, 0))
            self.client.succeed(self.client.api("DELETE", "/1.0/applications/candy", {"force": True}))
        self.assertEqual([f for f in (self.client.state / "blobs").rglob("*") if f.is_file()], [])

    def test_killed_in_the_middle_of_a_push(self):
        self.follow(self.publisher, self.url, "manual")
        self.create()
        self.begin(self.publisher, "push")
        self.publisher.restart()
        eventually(self.publisher, lambda: self.offered(self.publisher) == {"candy": [0]})
        self.follow(self.client, self.url, "pull")
        eventually(self.client, lambda: self.active(self.client, 0))


class OverHttps(TwoServices):
    def setUp(self):
        super().setUp()
        keys = [daemon.state / "registry/client.crt" for daemon in (self.publisher, self.client)]
        self.server = registry_server.RegistryServer(self.dir / "shelf", self.dir, keys)
        self.addCleanup(self.server.close)
        self.url = f"https://127.0.0.1:{self.server.port}"

    def trust(self, daemon):
        der = ssl.PEM_cert_to_DER_cert(self.server.certificate.read_text())
        reply = daemon.api("POST", "/1.0/certificates", {"certificate": base64.b64encode(der).decode()})
        self.assertIn(reply.status, (200, 201), reply.raw)

    def test_applications_travel_by_themselves(self):
        for daemon, mode in ((self.publisher, "push"), (self.client, "pull")):
            self.trust(daemon)
            self.follow(daemon, self.url, mode, fingerprint=self.server.fingerprint)
        self.story()

    def test_the_registry_must_be_pinned_and_trusted(self):
        self.follow(self.client, self.url, "manual")
        reply = self.client.api("GET", "/1.0/registry/applications")
        self.assertEqual((reply.status, reply.error), (400, "registry certificate is not trusted"))
        self.client.set_config("registry.fingerprint", self.server.fingerprint)
        self.assertEqual(self.client.api("GET", "/1.0/registry/applications").status, 400)
        self.assertEqual(self.server.requests, [])
        self.trust(self.client)
        self.assertEqual(self.client.api("GET", "/1.0/registry/applications").metadata, [])
        self.assertEqual(self.server.requests, ["GET /1.0/applications"])

    def test_the_registry_must_trust_us(self):
        self.server.trust.clear()
        self.trust(self.client)
        self.follow(self.client, self.url, "manual", fingerprint=self.server.fingerprint)
        reply = self.client.api("GET", "/1.0/registry/applications")
        self.assertEqual(reply.body["type"], "error")
        self.assertIn("registry cannot be reached", reply.error)


del TwoServices  # only what is derived from it is run

if __name__ == "__main__":
    harness.cases.main()

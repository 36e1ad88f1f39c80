#!/usr/bin/env python3
"""An operator's week: images, addons, applications, updates, publication, export, registry, trust, configuration.
Told twice: as it is, and with the daemon killed after each request that starts background work."""
import hashlib
import json
import os
import subprocess

import harness
from harness import hook, package

CONFIG = {
    "application.auto_publish": "false", "application.default_abi": "x86_64", "application.max_published_versions": "2",
    "application.auto_update": "false", "container.default_platform": "swrast", "container.features": "enable_system_ui",
    "container.security_updates": "false", "core.proxy_http": "http://127.0.0.1:9", "core.proxy_https": "http://127.0.0.1:9",
    "core.proxy_ignore_hosts": "localhost,127.0.0.1", "core.trust_password": "correct horse", "gpu.allocation_mode": "one",
    "gpu.type": "intel", "images.allow_insecure": "true", "images.auth": "user:secret", "images.update_interval": "10m",
    "images.url": "file:///nonexistent", "images.version_lockstep": "false", "registry.filter": "games",
    "registry.fingerprint": "ab" * 32, "registry.mode": "manual", "registry.update_interval": "30m",
    "registry.url": "file:///nonexistent", "scheduler.strategy": "binpack",
}


class KilledDaemon(harness.Daemon):
    """Is killed while what a request has started goes on."""

    def wait(self, reply, timeout=180):
        assert reply.status == 202, f"{reply.status}: {reply.raw}"
        self.restart()
        return super().wait(reply, timeout)


def application(name, **keys):
    text = f"name: {name}\n" + "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in keys.items())
    return {"manifest.yaml": text, "hooks/post-start": hook(f"mkdir -p /srv; echo {name} >/srv/name")}


class Week(harness.DaemonTest):
    kind = harness.Daemon

    @classmethod
    def setUpClass(cls):
        original, harness.Daemon = harness.Daemon, cls.kind
        try:
            super().setUpClass()
        finally:
            harness.Daemon = original

    def test_the_week(self):
        for day in (self.monday_images_and_addons, self.tuesday_applications, self.wednesday_updates,
                    self.thursday_publication, self.friday_export, self.saturday_trust, self.sunday_configuration,
                    self.everything_goes_again):
            with self.subTest(day=day.__name__):
                day()

    def monday_images_and_addons(self):
        d = self.daemon
        d.add_image("second", harness.busybox_image("tar.xz"))
        d.succeed(d.api("PATCH", "/1.0/images/second", {"default": True}))
        self.assertEqual([i["name"] for i in d.api("GET", "/1.0/images?default=true").metadata], ["second"])
        for name in ("one", "two", "three"):
            d.add_addon(name, {"manifest.yaml": f"name: {name}\n", "hooks/install": hook(f"mkdir -p /srv; echo {name} >>/srv/addons")})
        self.assertEqual(len(d.api("GET", "/1.0/addons").metadata), 3)

    def tuesday_applications(self):
        d = self.daemon
        d.create_app(application("alpha", image="busybox", addons="[one]", tags="[games]"))
        d.create_app(application("beta", image="second", addons="[one, two]"))
        d.create_app(application("gamma"))
        d.create_app(application("delta", resources="{cpus: 1, memory: 3GB, disk-size: 3GB}"))
        for name in ("alpha", "beta", "gamma", "delta"):
            id = d.launch_app(name)
            self.assertEqual(d.execute(id, "cat", "/srv/name"), f"{name}\n")
        self.assertEqual(d.api("GET", "/1.0/addons/one").metadata["used_by"], ["alpha", "beta"])
        d.remove_instances()

    def wednesday_updates(self):
        d = self.daemon
        d.succeed(d.upload("PATCH", "/1.0/addons/two", package(
            {"manifest.yaml": "name: two\n", "hooks/install": hook("mkdir -p /srv; echo newer >>/srv/addons")})))
        d.await_version("beta", 1)
        d.succeed(d.upload("PATCH", "/1.0/applications/gamma", package(application("gamma", version="'2'"))))
        d.await_version("gamma", 1)
        d.succeed(d.api("PATCH", "/1.0/applications/delta", {"tags": ["new"]}))
        self.assertEqual([v["number"] for v in d.application("delta")["versions"]], [0])
        d.succeed(d.api("PATCH", "/1.0/applications/delta", {"watchdog": {"disabled": True}}))
        d.await_version("delta", 1)
        d.succeed(d.upload("PATCH", "/1.0/images/second", harness.busybox_image("tar.bz2")))
        d.await_version("beta", 2)
        for name in ("beta", "gamma", "delta"):
            d.await_app(name)

    def thursday_publication(self):
        d = self.daemon
        newest = d.application("gamma")["versions"][-1]["number"]
        d.succeed(d.api("PATCH", f"/1.0/applications/gamma/{newest}", {"published": False}))
        id = d.launch_app("gamma")
        self.assertLess(d.container(id)["app_version"], newest)  # rolled back
        d.remove_instances()
        d.succeed(d.api("PATCH", f"/1.0/applications/gamma/{newest}", {"published": True}))
        self.assertEqual(d.api("PATCH", "/1.0/applications/gamma/99", {"published": True}).status, 404)

    def friday_export(self):
        d = self.daemon
        reply = d.api("GET", "/1.0/applications/alpha/0")
        self.assertEqual(hashlib.sha256(reply.raw).hexdigest(), reply.headers["X-SVC-Fingerprint"])
        d.succeed(d.upload("POST", "/1.0/images", reply.raw, name="exported"))
        id = d.launch("exported")
        self.assertEqual(d.execute(id, "cat", "/srv/name"), "alpha\n")
        d.remove_instances()
        self.share_through_a_registry()

    def share_through_a_registry(self):
        d = self.daemon
        shared = d.dir / "registry"
        shared.mkdir(exist_ok=True)
        d.set_config("registry.mode", "manual")
        d.set_config("registry.url", f"file://{shared}")
        d.succeed(d.api("POST", "/1.0/registry/applications/alpha/push"))
        self.assertEqual([a["name"] for a in d.api("GET", "/1.0/registry/applications").metadata], ["alpha"])
        other = self.kind("lxc").start()
        try:
            other.set_config("registry.mode", "manual")
            other.set_config("registry.url", f"file://{shared}")
            other.succeed(other.api("POST", "/1.0/registry/applications/alpha/pull"))
            other.await_app("alpha")
            self.assertTrue(other.application("alpha")["immutable"])
            self.assertEqual(other.execute(other.launch_app("alpha"), "cat", "/srv/name"), "alpha\n")
        finally:
            self.assertEqual(other.close(), [])
        d.succeed(d.api("DELETE", "/1.0/registry/applications/alpha"))
        self.assertEqual(d.api("GET", "/1.0/registry/applications").metadata, [])

    def saturday_trust(self):
        d = self.daemon
        key, certificate = d.dir / "client.key", d.dir / "client.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days",
                        "2", "-subj", "/CN=operator"], check=True, capture_output=True)
        self.assertEqual(self.remote(key, certificate, "/1.0/containers")[0], 403)
        self.assertEqual(d.api("POST", "/1.0/certificates", {"certificate": certificate.read_text()}).status, 200)
        self.assertEqual(self.remote(key, certificate, "/1.0/containers")[0], 200)
        fingerprint = d.api("GET", "/1.0/certificates").metadata[0].rsplit("/", 1)[1]
        d.succeed(d.api("DELETE", f"/1.0/certificates/{fingerprint}"))
        self.assertEqual(self.remote(key, certificate, "/1.0/containers")[0], 403)
        self.assertEqual(self.remote(key, certificate, "/1.0")[1]["metadata"]["auth"], "untrusted")

    def remote(self, key, certificate, path):
        url = next(a for a in self.daemon.addresses if a.startswith("https://")) + path
        answer = subprocess.run(["curl", "-ks", "--max-time", "20", "--cert", certificate, "--key", key, "-w", "\n%{http_code}", url],
                                capture_output=True, text=True, check=True).stdout
        body, _, status = answer.rpartition("\n")
        return int(status), json.loads(body)

    def sunday_configuration(self):
        d = self.daemon
        for name, value in CONFIG.items():
            d.set_config(name, value)
        shown = d.api("GET", "/1.0/config").metadata["config"]
        for name, value in CONFIG.items():
            if name in ("core.trust_password", "images.auth"):
                self.assertIs(shown[name], True)
            elif name != "images.version_lockstep":
                expected = json.loads(value) if value in ("true", "false") or value.isdigit() else value
                self.assertEqual(shown[name], expected, name)
        self.assertEqual(shown["images.version_lockstep"], "false")
        self.assertNotIn("secret", json.dumps(list(shown.values())))
        d.set_config("application.addons", "three")
        for name in (*CONFIG, "application.addons"):
            d.set_config(name, "")
        self.assertIs(d.api("GET", "/1.0/config").metadata["config"]["core.trust_password"], False)

    def everything_goes_again(self):
        d = self.daemon
        for name in ("alpha", "beta", "gamma", "delta"):
            d.succeed(d.api("DELETE", f"/1.0/applications/{name}"))
        for name in ("one", "two", "three"):
            d.succeed(d.api("DELETE", f"/1.0/addons/{name}"))
        for name in ("exported", "busybox", "second"):
            d.succeed(d.api("DELETE", f"/1.0/images/{name}", {"force": True}))
        self.assertEqual(d.containers(), [])
        self.assertTrue(d.eventually(lambda: not self.contents()), self.contents())

    def contents(self):
        layers = os.listdir(self.daemon.state / "lxc/layers")
        return layers + [name for _, _, names in os.walk(self.daemon.state / "blobs") for name in names]


class KilledWeek(Week):
    kind = KilledDaemon


if __name__ == "__main__":
    harness.cases.main()

#!/usr/bin/env python3
"""Requests that are well formed and wrong: headers, tokens, values of the configuration, and many at once."""
import hashlib
import random
import time

import harness
from harness import hook, package
from hostile import HostileTest, NOT_A_LIST, NOT_A_NUMBER, NOT_TEXT, OCTETS, REFUSED, jwt, manifest


class BadRequests(HostileTest):
    def test_deletion_with_odd_bodies(self):
        for path in ("/1.0/images/busybox", f"/1.0/applications/{self.app}", f"/1.0/containers/{self.instance}",
            f"/1.0/nodes/{self.node}"):
            for body in (b"x", b"force=true", b"[true]", b"\0", b'{"force": "yes"}', b"<force/>"):
                with self.subTest(path=path, body=body):
                    self.refused("DELETE", path, body, statuses=(400,))

    def test_entity_tags(self):
        for method, path, body in (("PATCH", f"/1.0/applications/{self.app}", {"tags": ["x"]}),
            ("PATCH", "/1.0/images/busybox", {"default": True}),
                                   ("PATCH", f"/1.0/nodes/{self.node}", {"tags": "x"}),
                                   ("PATCH", "/1.0/config", {"name": "scheduler.strategy", "value": "binpack"}),
                                   ("PATCH", "/1.0/addons/addon", b"")):
            for tag in ("x", '"x"', '""', ",", "W/", '"' + "0" * 64 + '"', "0" * 64, "x" * 5000, '"a","b"'):
                with self.subTest(path=path, tag=tag[:20]):
                    self.refused(method, path, body, {"If-Match": tag, **({} if isinstance(body, dict) else OCTETS)},
                        statuses=(412,))

    def test_tokens(self):
        secret = (self.daemon.state / "tokens.key").read_bytes()
        claims = {"sub": self.instance, "scope": ["artifacts", "status"], "iat": int(time.time()),
            "exp": int(time.time()) + 1000}
        good = jwt(secret, claims)
        listing = self.daemon.api("GET", "/1.0/artifacts", headers={"Authorization": f"bearer {good}"})
        self.assertEqual(listing.status, 200)
        unsigned = good.rsplit(".", 1)[0] + "."
        none = jwt(secret, claims, alg="none").rsplit(".", 1)[0] + "."
        tokens = {"expired": jwt(secret, {**claims, "exp": 1}),
            "no end": jwt(secret, {k: v for k, v in claims.items() if k != "exp"}),
            "wrong secret": jwt(b"x" * 64, claims),
                  "alg none": none, "alg none signed": jwt(secret, claims, alg="none"),
                  "alg HS384": jwt(secret, claims, alg="HS384"), "unsigned": unsigned,
                  "no scope": jwt(secret, {**claims, "scope": []}),
                  "scope text": jwt(secret, {**claims, "scope": "status"}),
                  "gone": jwt(secret, {**claims, "sub": "dc10nquc5ee4f6u48mqg"}),
                  "by name": jwt(secret, {**claims, "sub": f"svc-{self.instance}"}),
                  "no sub": jwt(secret, {**claims, "sub": 1}),
                  "no claims": jwt(secret, []), "end text": jwt(secret, {**claims, "exp": "never"}), "dots": "...",
                  "short": "x", "long": "x" * 5000}
        for name, token in tokens.items():
            for method, path, body in (("GET", "/1.0/artifacts", None), ("GET", "/1.0/artifacts/" + "0" * 64, None),
                                       ("PATCH", f"/1.0/containers/{self.instance}",
                                           {"status": "error", "error_message": "fooled"})):
                with self.subTest(token=name, path=path):
                    self.refused(method, path, body, {"Authorization": f"bearer {token}"}, statuses=(403,))
        for value in ("", "basic x", "bearer", good):
            with self.subTest(header=value):
                self.refused("GET", "/1.0/artifacts", headers={"Authorization": value}, statuses=(401, 403))
        other = self.daemon.launch()
        self.refused("PATCH", f"/1.0/containers/{other}", {"status": "error"}, {"Authorization": f"bearer {good}"}, (403,))
        reports = [{"status": value} for value in NOT_TEXT + ["", "dancing"]]
        reports += [{"status": "error", "error_code": value} for value in NOT_A_NUMBER]
        reports += [{"status": "error", "error_message": value} for value in NOT_TEXT]
        reports += [{"notes": value} for value in NOT_A_LIST]
        reporters = []
        for index, body in enumerate(reports):
            if index % 15 == 0:  # more of one instance are too many
                reporter = self.daemon.launch()
                reporters.append(reporter)
                header = {"Authorization": "bearer " + jwt(secret, {**claims, "sub": reporter})}
            with self.subTest(report=str(body)[:60]):
                self.refused("PATCH", f"/1.0/containers/{reporter}", body, header, (400,))
        token = jwt(secret, {**claims, "sub": other})
        for id in [other, *reporters]:
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))
        self.refused("GET", "/1.0/artifacts", headers={"Authorization": f"bearer {token}"}, statuses=(403,))

    def test_upload_headers(self):
        data = package({"manifest.yaml": manifest("new"), "hooks/install": hook("true")})
        digest = hashlib.sha256(data).hexdigest()
        named = {"X-SVC-Request": '{"name": "new"}'}
        routes = [("POST", "/1.0/addons"), ("PATCH", "/1.0/addons/addon"), ("POST", "/1.0/applications"),
            ("PATCH", f"/1.0/applications/{self.app}"),
                  ("POST", "/1.0/images"), ("PATCH", "/1.0/images/busybox")]
        for method, path in routes:
            headers = {**OCTETS, **(named if method == "POST" else {})}
            for value in (digest[:-1], digest + "0", "x" * 64, "0" * 64, "0x" + digest[2:], "-", digest.upper()[:-1]):
                with self.subTest(route=f"{method} {path}", fingerprint=value):
                    self.refused(method, path, data, {**headers, "X-SVC-Fingerprint": value}, statuses=(400,),
                        naming="ingerprint")
            for value in ("{", "[]", "1", '"x"', '{"name": "a", "name": "b"}', "x" * 5000, "\xff",
                '{"name": 1}' if "images" in path else "[1]"):
                with self.subTest(route=f"{method} {path}", request=value[:20]):
                    self.refused(method, path, data, {**OCTETS, "X-SVC-Request": value}, statuses=(400,))
            for value in ("text/plain", "application/json", "multipart/form-data; boundary=x", "",
                "application/octet-stream2"):
                with self.subTest(route=f"{method} {path}", type=value):
                    self.refused(method, path, data, {"Content-Type": value, **named}, statuses=(400,))
            with self.subTest(route=f"{method} {path}", body="empty"):
                self.refused(method, path, b"", {**OCTETS, **named}, statuses=(400,))
        for path in ("/1.0/addons", "/1.0/images"):
            for request in ("", "{}", '{"name": null}', '{"name": ""}', '{"name": 7}', '{"name": []}',
                '{"name": "a/b"}', '{"name": "../x"}', '{"name": "a\\u0000"}',
                            '{"name": "%s"}' % ("x" * 129), '{"name": "dc10nquc5ee4f6u48mqg"}', '{"name": "a b"}',
                            '{"name": ".."}', '{"name": "."}'):
                with self.subTest(path=path, request=request[:30]):
                    self.refused("POST", path, data, {**OCTETS, "X-SVC-Request": request}, statuses=(400,),
                        naming="name")
            self.refused("POST", path, data,
                {**OCTETS, "X-SVC-Request": '{"name": "%s"}' % ("addon" if "addons" in path else "busybox")},
                statuses=(409,))

    def test_config_values(self):
        bad = {"application.addons": ["nothing", "../x", "addon,nothing"],
            "application.auto_publish": ["yes", "1", "TRUE"],
            "application.max_published_versions": ["0", "-1", "x", "1001", "1e3", "9" * 40],
               "application.default_abi": ["mips", "x" * 1000], "container.default_platform": ["x11"],
               "core.proxy_http": ["x", "ftp://x", "http://", "http://a b"],
               "core.proxy_https": ["file:///etc/shadow", "javascript:x"], "gpu.allocation_mode": ["two"],
               "gpu.type": ["voodoo"], "images.allow_insecure": ["maybe"],
               "images.update_interval": ["0s", "5", "-5m", "x", "99999999999h"],
               "images.url": ["x", "gopher://x", "http://"], "images.version_lockstep": ["x"],
               "oidc.ca": ["/etc/shadow"], "oidc.issuer": ["x", "http://login.example.com", "https://a b"], "oidc.redirect_url": ["https://x/"],
               "oidc.roles": ["x", "a=root", ","], "oidc.scopes": ["email"],
               "registry.fingerprint": ["x", "0" * 63, "g" * 64], "registry.mode": ["sideways"],
               "registry.update_interval": ["0", "1", "0.1s"], "registry.url": ["x", "ftp://x", "//"],
               "scheduler.strategy": ["", " spread", "SPREAD", "x" * 100000][1:],
               "load_balancer.url": ["x"], "container.network_proxy": ["\n", "a\0b"],
               "container.apt_mirror": ["x y\n"], "container.features": ["a\0b"], "core.trust_password": ["\0"][1:]}
        known = self.daemon.api("GET", "/1.0/config").metadata["config"]
        for name, values in bad.items():
            if name not in known:
                continue
            for value in values:
                with self.subTest(name=name, value=value[:30]):
                    reply = self.refused("PATCH", "/1.0/config", {"name": name, "value": value}, statuses=(400, 404))
                    self.assertLess(len(reply.error), 500)

    def test_two_requests_for_one_name(self):
        data = package({"manifest.yaml": manifest("raced"), "hooks/install": hook("true")})
        image = harness.busybox_image().read_bytes()
        for path, body, request in (("/1.0/addons", data, {"name": "raced"}), ("/1.0/applications", data, {}),
            ("/1.0/images", image, {"name": "raced"})):
            with self.subTest(path=path):
                replies = self.at_once(*[lambda: self.daemon.upload("POST", path, body, **request)] * 6)
                self.assertEqual(sorted(reply.status for reply in replies), [202] + [409] * 5,
                    [reply.raw for reply in replies])
                made = next(reply for reply in replies if reply.status == 202)
                self.daemon.succeed(made)
                url = made.metadata["resources"][path.rsplit("/", 1)[1]][0]
                replies = self.at_once(*[lambda: self.daemon.api("DELETE", url, {"force": True})] * 6)
                self.assertLessEqual({reply.status for reply in replies}, {202, 404, 409},
                    [reply.raw for reply in replies])
                ends = [self.daemon.wait(reply) for reply in replies if reply.status == 202]
                self.assertIn(200, [end["status_code"] for end in ends], ends)
                self.assertEqual(self.daemon.api("GET", url).status, 404)

    def test_two_updates_of_one_object(self):
        app = self.daemon.create_app({"manifest.yaml": manifest("updated")})
        updates = {"/1.0/addons/addon": lambda number: package({"manifest.yaml": "name: addon\n",
            "hooks/install": hook(f"true {number}")}),
                   f"/1.0/applications/{app}": lambda number: package({"manifest.yaml": manifest("updated",
                       version=f"'{number}'")})}
        for path, content in updates.items():
            with self.subTest(path=path):
                replies = self.at_once(*[lambda number=number: self.daemon.upload("PATCH", path,
                    content(number)) for number in range(5)])
                self.assertLessEqual({reply.status for reply in replies}, {202, 409}, [reply.raw for reply in replies])
                ends = [self.daemon.wait(reply)["status_code"] for reply in replies if reply.status == 202]
                numbers = [version.get("number", version.get("version")) for version in self.daemon.api("GET",
                    path).metadata["versions"]]
                self.assertEqual(numbers, sorted(set(numbers)))
                self.assertGreaterEqual(ends.count(200), 1)
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/applications/{app}", {"force": True}))
        newest = self.daemon.api("GET", "/1.0/addons/addon").metadata["versions"][-1]["version"]
        self.daemon.eventually(lambda: f"'version': {newest}" in str(self.daemon.application(self.app)["versions"][-1]) or
                               self.daemon.application(self.app)["status"] == "ready")
        self.before = self.snapshot()

    def test_launches_race_deletions(self):
        for _ in range(3):
            self.daemon.succeed(self.daemon.upload("POST", "/1.0/images", harness.busybox_image(), name="brief"))
            calls = [lambda: self.daemon.api("POST", "/1.0/containers",
                {"image_id": "brief", "instance_type": "a2.3"})] * 3
            replies = self.at_once(*calls, lambda: self.daemon.api("DELETE", "/1.0/images/brief", {"force": True}),
                *calls)
            self.assertLessEqual({reply.status for reply in replies}, {202, 400, 404, 409},
                [reply.raw for reply in replies])  # 400: not active
            for reply in replies:
                if reply.status == 202:
                    record = self.daemon.wait(reply)
                    self.assertTrue(record["status_code"] == 200 or record["err"], record)
            for container in self.daemon.containers():
                if container["id"] != self.instance:
                    deletions = self.at_once(*[lambda: self.daemon.api("DELETE",
                        f"/1.0/containers/{container['id']}")] * 3)
                    self.assertLessEqual({reply.status for reply in deletions}, {202, 404, 409})
                    for reply in deletions:
                        if reply.status == 202:
                            self.daemon.wait(reply)
                    self.assertEqual(self.daemon.api("GET", f"/1.0/containers/{container['id']}").status, 404)
            if self.daemon.api("GET", "/1.0/images/brief").status == 200:
                self.daemon.succeed(self.daemon.api("DELETE", "/1.0/images/brief", {"force": True}))

    def test_deletion_of_what_is_in_use(self):
        self.refused("DELETE", "/1.0/addons/addon", statuses=(409,), naming="addon is in use")
        self.refused("DELETE", "/1.0/addons/addon/0", statuses=(400, 409))
        self.refused("DELETE", "/1.0/images/busybox", statuses=(409,), naming="image is in use")
        self.refused("DELETE", "/1.0/images/busybox/0", statuses=(400,))
        self.refused("DELETE", f"/1.0/nodes/{self.node}", statuses=(409,), naming=f"node {self.node} is in use")
        self.refused("DELETE", f"/1.0/applications/{self.app}/0", statuses=(400, 409))

    def one_of_many(self, chance, number):
        """A request that may or may not fit what the others have just done."""
        name, version, daemon = f"many{chance.randrange(3)}", chance.randrange(3), self.daemon
        data = package({"manifest.yaml": manifest(name, version=f"'{number}'", addons="[many]"), "hooks/install": hook(f"true {number}")})
        force, url = {"force": chance.random() < 0.7}, f"/1.0/applications/{name}"
        containers = [container["id"] for container in daemon.containers() if container["id"] != self.instance] or ["none"]
        return chance.choice([
            lambda: daemon.upload("POST", "/1.0/applications", data), lambda: daemon.upload("PATCH", url, data),
            lambda: daemon.api("PATCH", url, {"manifest_version": str(number)}), lambda: daemon.api("PATCH", url, b""),
            lambda: daemon.api("PATCH", f"{url}/{version}", {"published": chance.random() < 0.5}), lambda: daemon.api("DELETE", url, force),
            lambda: daemon.api("DELETE", f"{url}/{version}", force), lambda: daemon.api("GET", f"{url}/{version}"),
            lambda: daemon.api("POST", "/1.0/containers", {"app_id": name}),
            lambda: daemon.api("DELETE", f"/1.0/containers/{chance.choice(containers)}", force),
            lambda: daemon.api("PATCH", f"/1.0/containers/{chance.choice(containers)}", {"desired_status": "stopped"}),
            lambda: daemon.upload("POST", "/1.0/addons", data, name="many"), lambda: daemon.upload("PATCH", "/1.0/addons/many", data),
            lambda: daemon.api("DELETE", "/1.0/addons/many")])()

    def test_everything_at_once(self):
        def some(seed):
            chance = random.Random(seed)
            return [self.one_of_many(chance, f"{seed}.{number}") for number in range(60)]
        replies = sum(self.at_once(*[lambda seed=seed: some(seed) for seed in range(6)]), [])
        for reply in replies:
            self.assertIn(reply.status, (200, 202, *REFUSED), reply.raw[:300])
            if reply.status == 202:
                record = self.daemon.wait(reply)
                self.assertTrue(record["status_code"] == 200 or record["err"], record)
        for container in self.daemon.containers():
            if container["id"] != self.instance:
                self.daemon.remove(f"/1.0/containers/{container['id']}")
        for url in self.daemon.api("GET", "/1.0/applications").metadata:
            if not url.endswith(self.app):
                self.daemon.remove(url)
        self.assertTrue(self.daemon.eventually(lambda: len(self.daemon.containers()) == 1), self.daemon.containers())
        if self.daemon.api("GET", "/1.0/addons/many").status == 200:
            self.daemon.succeed(self.daemon.api("DELETE", "/1.0/addons/many"))


if __name__ == "__main__":
    harness.cases.main()

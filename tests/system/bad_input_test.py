#!/usr/bin/env python3
"""What a hostile or clumsy client can send: each is refused by name, changes nothing, and leaves the daemon well."""
import socket

import harness
from hostile import (HostileTest, LONG_LIST, MIB, NOT_AN_OBJECT, NOT_A_COUNT, NOT_A_FLAG, NOT_A_LIST,
                     NOT_JSON, NOT_TEXT, NO_OBJECT, ODD_TEXT, manifest)


class BadInput(HostileTest):
    def bodies(self):
        """Route, a valid body, and for each of its fields what it must not be."""
        text, count, flag, many = NOT_TEXT + ["\0"], NOT_A_COUNT, NOT_A_FLAG, NOT_A_LIST + [LONG_LIST]
        # -1 is "not set", as the records print it.
        count_or_unset = [-2 if value == -1 else value for value in count]
        cores = [value for value in count_or_unset if value != 1.5]
        return [
            ("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3"}, {
                "image_id": text + ["nothing"] + ODD_TEXT, "instance_type": text + ["", "a3.3"] + ODD_TEXT,
                "user_data": NOT_TEXT + ["x" * 10241],
                "node": text + ["nothing"], "disk_size": NOT_A_COUNT[2:] + [0, "x", "3 apples"],
                "memory": NOT_A_COUNT[2:] + [0, "x"],
                "cpu": cores + [0, 0.0004, 1e300], "gpu_slots": count_or_unset, "image_version": count_or_unset + [7],
                "tags": many + [["a,b"], [""], ["\0"]],
                "addons": many + [["nothing"], [""]], "no_start": flag, "app_id": ["app"] + NOT_TEXT,
                "services": NOT_AN_OBJECT[:3] + [{}, [{}], [1], [{"name": "a", "port": 0, "protocols": ["tcp"]}],
                                                 [{"name": "a", "port": 65536, "protocols": ["tcp"]}],
                                                 [{"name": "a", "port": 22, "protocols": []}],
                                                 [{"name": "a", "port": 22, "protocols": ["icmp"]}],
                                                 [{"name": "a", "port": 22, "port_end": 21, "protocols": ["tcp"]}],
                                                 [{"name": "a", "port": 22, "port_end": 65536, "protocols": ["tcp"]}],
                                                 [{"name": "A b", "port": 22, "protocols": ["tcp"]}],
                                                 [{"name": "a", "port": 22, "protocols": ["tcp"], "expose": 1}],
                                                 [{"name": "a\0", "port": 22, "protocols": ["tcp"]}],
                                                 [{"name": "a", "port": 22, "protocols": ["tcp"]}] * 2],
                "config": NOT_AN_OBJECT + [{"platform": "x11"}, {"boot_package": "no"}, {"boot_activity": ";rm"},
                    {"metrics_server": "\0"},
                                           {"metrics_server": 1}, {"features": []}, {"devmode": "yes"},
                                           {"disable_watchdog": 1}]}),
            ("POST", "/1.0/containers", {"app_id": "app"}, {
                "app_id": text + ["", "nothing"] + ODD_TEXT, "app_version": count_or_unset + [7], "image_id": ["busybox"],
                "instance_type": ["a2.3"]}),
            ("PATCH", "/1.0/config", {"name": "scheduler.strategy", "value": "spread"}, {
                "name": text + ["", "nothing", "scheduler", "scheduler.strategy.x"] + ODD_TEXT,
                "value": text + ["sideways"]}),
            ("PATCH", f"/1.0/nodes/{self.node}", {"tags": ""}, {
                "public_address": NOT_TEXT + ["not an address", "1.2.3", "\0", "a" * MIB], "cpus": count,
                "memory": count[5:] + ["x", "-1GB"],
                "cpu_allocation_rate": ["x", True, [], -1, 0, 1e300],
                "memory_allocation_rate": ["x", True, [], -1, 0, 101],
                "gpu_slots": count, "gpu_encoder_slots": count, "tags": [1, True, {}, [1], "a,,b", ["a,b"], ["\0"]],
                "unscheduable": flag}),
            ("DELETE", f"/1.0/nodes/{self.node}", {"force": False}, {"force": flag, "keep_in_cluster": flag}),
            ("POST", "/1.0/nodes", {"name": "other", "address": "10.0.0.7"}, {
                "name": text + ["", self.node, "../x", "x" * 300], "address": text + ["", "::::", "a b"],
                "public_address": NOT_TEXT + ["a b"]}),
            ("POST", "/1.0/certificates", {}, {"certificate": NOT_TEXT + ["", "!!", "AAAA", "x" * MIB, "\0",
                "-----BEGIN CERTIFICATE-----\n"]}),
            ("POST", "/1.0/certificates/tokens", {"name": "them"}, {
                "name": text + ["", "x" * MIB], "expiry": NOT_TEXT + ["", "soon", "-1s", "0s", "99999999999999999h"]}),
            ("POST", f"/1.0/containers/{self.instance}/exec", {"command": ["true"]}, {
                "command": NOT_A_LIST + [[], [""], ["a\0b"]],
                "environment": NOT_AN_OBJECT + [{"a": 1}, {"": "x"}, {"a=b": "x"}, {"a": "\0"}],
                "interactive": flag, "width": count + [65536], "height": count + [65536]}),
            ("PATCH", f"/1.0/containers/{self.instance}", {"desired_status": "running"}, {
                "desired_status": text + ["", "started", "deleted"] + ODD_TEXT}),
            ("PATCH", f"/1.0/applications/{self.app}", {}, {
                "image": text + ["nothing"], "instance-type": text + ["a3.3"], "tags": many + [["a,b"], [""]],
                "addons": many + [["nothing"], [""]],
                "inhibit_auto_updates": flag,
                "services": [1, {}, [{}], [{"name": "a", "port": 0, "protocols": ["tcp"]}]],
                "watchdog": NOT_AN_OBJECT + [{"disabled": 1}, {"allowed-packages": ["no"]},
                    {"allowed-packages": ["*", "com.a.b"]}],
                "boot_activity": text + ["no way"], "required_permissions": many, "video_encoder": text + ["cpu"],
                "manifest_version": NOT_TEXT + ["x" * 51],
                "hooks": NOT_AN_OBJECT + [{"timeout": "16m"}, {"timeout": "-1s"}, {"timeout": 5}],
                "bootstrap": NOT_AN_OBJECT + [{"keep": "x"}, {"keep": ["../x"]}, {"keep": ["/etc/*"]}],
                "features": many, "node_selector": many,
                "resources": NOT_AN_OBJECT + [{"cpus": 0}, {"cpus": "x"}, {"memory": "1GX"}, {"memory": -5},
                    {"disk-size": "0GB"}, {"gpu-slots": -2}]}),
            ("PATCH", f"/1.0/applications/{self.app}/0", {"published": 1}, {"published": flag}),
            ("DELETE", f"/1.0/applications/{self.app}", {"force": 1}, {"force": flag}),
            ("DELETE", f"/1.0/applications/{self.app}/0", {"force": 1}, {"force": flag}),
            ("DELETE", f"/1.0/containers/{self.instance}", {"force": 1}, {"force": flag}),
            ("DELETE", "/1.0/images/busybox", {"force": 1}, {"force": flag}),
            ("PATCH", "/1.0/images/busybox", {"default": 1}, {"default": flag, "force_sync": flag}),
            ("POST", "/1.0/images", {"name": "new", "path": "remote"}, {
                "name": text + ["", "busybox", "a/b", "x" * 129, "dc10nquc5ee4f6u48mqg"], "path": text + ["", "\0"],
                "default": flag}),
            *[("DELETE", f"/1.0/{what}", {"ids": ["nothing"]},
                {"ids": many + [["nothing"], ["../x"], ["\0"], [self.instance, self.instance]], "force": flag})
              for what in ("applications", "containers", "instances")],
        ]

    def test_each_field_of_each_body(self):
        for method, path, body, fields in self.bodies():
            for field, values in fields.items():
                for value in values:
                    with self.subTest(route=f"{method} {path}", field=field, value=str(value)[:60]):
                        self.refused(method, path, {**body, field: value})

    def test_each_missing_field(self):
        for method, path, body, _ in self.bodies():
            required = {"/1.0/containers", "/1.0/config", "/1.0/nodes",
                "/1.0/certificates/tokens"} if method != "DELETE" else set()
            for field in body if path in required or path.endswith("/exec") else []:
                for value in ({}, {field: None}):
                    with self.subTest(route=f"{method} {path}", field=field, value=value):
                        rest = {**{k: v for k, v in body.items() if k != field}, **value}
                        self.refused(method, path, rest, statuses=(400,), naming="required")

    def test_what_is_no_json_object(self):
        routes = {(method, path) for method, path, *_ in self.bodies()}
        for method, path in sorted(routes):
            optional = method == "DELETE" or "/applications/" in path or path.endswith("certificates")  # null: not given
            for body in NOT_JSON + [body for body in NO_OBJECT if body != b"null" or not optional]:
                for type in ("", "application/json", "text/plain"):
                    with self.subTest(route=f"{method} {path}", body=body[:20], type=type):
                        self.refused(method, path, body, {"Content-Type": type} if type else {}, statuses=(400,))

    def test_long_bodies(self):
        for method, path, *_ in self.bodies():
            with self.subTest(route=f"{method} {path}"):
                self.refused(method, path, b'{"x": "' + b"x" * MIB + b'"}', statuses=(400,), naming="longer")

    def test_names_in_paths(self):
        names = ["nothing", "..", ".", "%2e%2e", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "a%2fb", "%00", "busybox%00",
            "app%00", "%ff%fe", "%0a",
                 "x" * 4000, "-1", "0", "%25", "dc10nquc5ee4f6u48mqg", "'", "%22%3b--", "*", "app/../app"]
        routes = [(method, f"/1.0/{many}/{{}}") for many in ("addons", "applications", "images", "containers",
            "instances", "nodes",
                                                              "certificates", "operations") for method in ("GET",
                                                              "DELETE")]
        routes += [("PATCH", f"/1.0/{many}/{{}}") for many in ("applications", "images", "nodes")]
        routes += [("DELETE", f"/1.0/{one}/{{}}") for one in ("addons/addon", f"applications/{self.app}", "images/busybox")]
        routes += [("GET", f"/1.0/applications/{self.app}/{{}}"),
            ("GET", f"/1.0/applications/{self.app}/7{{}}/manifest"),
                   ("GET", f"/1.0/containers/{self.instance}/logs/{{}}"), ("GET", "/1.0/containers/{}/logs"),
                   ("GET", "/1.0/containers/{}/logs/console.log"), ("POST", "/1.0/containers/{}/exec"),
                   ("GET", "/1.0/artifacts/{}"),
                   ("GET", "/1.0/operations/{}/wait"), ("GET", "/1.0/operations/{}/websocket?secret=x"),
                   ("GET", "/1.0/{}/containers"),
                   ("POST", "/1.0/registry/applications/{}/push"), ("POST", "/1.0/registry/applications/{}/pull"),
                   ("DELETE", "/1.0/registry/applications/{}"), ("DELETE", "/1.0/certificates/tokens/{}"),
                   ("GET", "/{}"), ("GET", "//1.0/{}")]
        versions = ("0", "dc10nquc5ee4f6u48mqg", "app/../app")
        of_versions = [f"/1.0/{one}/{{}}" for one in ("addons/addon", f"applications/{self.app}", "images/busybox")]
        for method, route in routes:
            for name in names:
                if name in versions and route in of_versions:
                    continue  # may be there
                with self.subTest(route=f"{method} {route}", name=name[:30]):
                    body = {"command": ["true"]} if route.endswith("exec") else {"tags": []} if method == "PATCH" else None
                    self.refused(method, route.format(name), body)

    def test_query_values(self):
        for path in ("containers", "applications", "images", "addons", "nodes", "certificates", "operations", "tasks",
            "registry/applications"):
            for value in ("2", "-1", "true", "x", "%00", "1" * 1000, "0x1", "1%20"):
                with self.subTest(path=path, recursion=value[:10]):
                    self.refused("GET", f"/1.0/{path}?recursion={value}", statuses=(400,), naming="recursion")
        for path in ("containers", "applications", "images", "addons"):
            for value in ("-2", "x", "9" * 30, "%00", "1.5"):
                for key in ("limit", "offset"):
                    with self.subTest(path=path, key=key, value=value):
                        self.refused("GET", f"/1.0/{path}?{key}={value}", statuses=(400,), naming=key)
        done = self.daemon.api("GET", "/1.0/operations").metadata["success"][0]
        for path, naming in ((f"/{done}/wait?timeout=x", "timeout"), (f"/{done}/wait?timeout=-2", "timeout"),
            ("/1.0/events?type=x", "type"),
                             ("/1.0/events?type=%00", "type"), ("/1.0/events?since=-1", ""),
                             ("/1.0/events?since=x", ""), ("/1.0/events", "websocket"),
                             ("/1.0/applications?published=1", "published"), ("/1.0/images?default=1", "default"),
                             (f"/1.0/containers/{self.instance}?no_wait=1", "no_wait")):
            with self.subTest(path=path):
                method, body = ("PATCH", {"desired_status": "stopped"}) if "no_wait" in path else ("GET", None)
                self.refused(method, path, body, statuses=(400,), naming=naming)
        self.assertEqual(self.daemon.api("GET", f"/1.0/containers?{'x=1&' * 2000}").status, 200)
        self.refused("GET", "/1.0/containers?" + "x" * 100000)

    def raw(self, data, end=False):
        """What the daemon answers to these bytes, until it closes; "" when it only closes."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(str(self.daemon.socket))
        answer = b""
        try:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                answer += chunk
        except (BrokenPipeError, ConnectionResetError):
            pass
        connection.close()
        return answer

    def test_broken_requests(self):
        post = b"POST /1.0/containers HTTP/1.1\r\nHost: x\r\n"
        broken = [b"\r\n\r\n\r\n\0", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01",
            b"GET x/1.0 HTTP/1.1\r\nHost: x\r\n\r\n",
                  b"GET /1.0 HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n", b"GET /1.0 HTTP/1.1\r\n\r\n",
                  b"GET /1.0 HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
                  b"GET /1.0 HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 10000 + b"\r\n",
                  b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                  b"GET /1.0\0 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
                  b"FOO /1.0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                  post + b"Content-Length: -1\r\n\r\n{}", post + b"Content-Length: x\r\n\r\n{}",
                  post + b"Content-Length: 99999999999999999999999\r\n\r\n",
                  post + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                  post + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                  post + b"Transfer-Encoding: gzip\r\n\r\n{}", post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
                  post + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n",
                  post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}{}\r\n",
                  post + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"x" * 100000,
                  post + b"Content-Length: 99999999\r\n\r\n{}",
                  post + b"Expect: 200-maybe\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"]
        for data in broken:
            with self.subTest(data=data[:80]):
                answer = self.raw(data, end=True)
                if answer:
                    self.assertRegex(answer, b"^HTTP/1.1 4[0-9][0-9] ")
                    self.assertIn(b'"type":"error"', answer)
        for data in (post + b"Content-Length: 200\r\n\r\n{", b"GET /1.0 HT",
            post + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{"):
            with self.subTest(cut=data):
                self.assertNotIn(b" 20", self.raw(data, end=True)[:13])


if __name__ == "__main__":
    harness.cases.main()

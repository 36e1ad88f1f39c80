"""What tests of bad input have in common: values that are wrong, and a daemon whose state must not change."""
import base64
import hmac
import json
import threading

import harness
from harness import hook

MIB = 1 << 20
REFUSED = (400, 401, 403, 404, 409, 412)
NOT_TEXT = [1, -1, 1.5, True, [], {}, ["x"], {"a": 1}, 2**70]
NOT_A_NUMBER = ["x", "", True, [], {}, 1e300, 2**63, -2**70]
NOT_A_COUNT = NOT_A_NUMBER + [-1, 1.5]
NOT_A_FLAG = ["true", "", 1, 0, [], {}, 1.5]
NOT_A_LIST = ["x", 1, True, {}, [1], [None], [[]], [{}]]
LONG_LIST = [f"name{number}" for number in range(80000)]
NOT_AN_OBJECT = ["x", 1, True, [], [{}]]
ODD_TEXT = ["\0", "a\0b", "\n", "x" * MIB, "../../etc", "\u202e", " ", "a b"]
NOT_JSON = [b"{", b"[", b"null x", b"{'a': 1}", b'{"a": 01}', b'{"a": "\xff\xfe"}', b"\xff", b"\0", b'{"a": "\n"}',
    b'{"a": NaN}',
            b'{"a": 1e999}', b'{"a" 1}', b'{"a": 1,}', b'"\\ud800"', b"{}{}", b"[" * 100000, b'{"a":' * 100000,
            b'{"name": "a", "name": "b"}', b"\xef\xbb\xbf{}", b"-", b"1" * 100000]
NO_OBJECT = [b"null", b"1", b'"x"', b"[]", b"true"]
OCTETS = {"Content-Type": "application/octet-stream"}


def manifest(name, **keys):
    return "".join([f"name: {name}\n", *[f"{key.replace('_', '-')}: {value}\n" for key, value in keys.items()]])


def jwt(secret, claims, **header):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")
    text = part({"alg": "HS256", "typ": "JWT", **header}) + b"." + part(claims)
    return (text + b"." + base64.urlsafe_b64encode(hmac.new(secret, text, "sha256").digest()).rstrip(b"=")).decode()


class HostileTest(harness.DaemonTest):
    runtime = "simulated"

    @classmethod
    def prepare(cls):
        cls.daemon.add_image()
        cls.daemon.add_addon("addon", {"manifest.yaml": "name: addon\n", "hooks/install": hook("true")})
        cls.app = cls.daemon.create_app({"manifest.yaml": manifest("app", addons="[addon]")})
        cls.instance = cls.daemon.launch()
        cls.node = cls.daemon.api("GET", "/1.0/nodes").metadata[0].rsplit("/", 1)[1]

    def snapshot(self):
        return {path: self.daemon.api("GET", f"/1.0/{path}").metadata for path in (
            "addons?recursion=1", "applications?recursion=1", "images?recursion=1", "containers?recursion=1", "config",
            "nodes?recursion=1", "certificates?recursion=1", "certificates/tokens")}

    def setUp(self):
        self.before = self.snapshot()

    def tearDown(self):
        self.assertEqual(self.snapshot(), self.before)

    def refused(self, method, path, body=None, headers=None, statuses=REFUSED, naming=""):
        reply = self.daemon.api(method, path, body, headers)
        shown = f"{method} {path[:200]} {str(headers)[:200]} {str(body)[:200]} -> {reply.status} {reply.raw[:300]}"
        self.assertIn(reply.status, statuses, shown)
        self.assertEqual(reply.body["type"], "error", shown)
        self.assertEqual(reply.body["error_code"], reply.status, shown)
        self.assertTrue(0 < len(reply.error) < 5000, shown)
        self.assertIn(naming, reply.error, shown)
        self.assertNotIn(str(self.daemon.dir), reply.raw.decode(), shown)
        return reply

    def at_once(self, *calls):
        results = [None] * len(calls)

        def run(index):
            results[index] = calls[index]()
        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * harness.PATIENCE)
        self.assertNotIn(None, results)
        return results

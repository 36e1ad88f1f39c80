#!/usr/bin/env python3
"""Client and instance cannot reach each other: pictures go by way of Debian's coturn, with credentials that the gateway made."""
import shutil
import signal
import subprocess
import unittest
import urllib.parse

import harness
import streaming
from corner import Corner
from streaming import eventually

SECRET = "a secret of this test"


def start_relay(address, port, folder):
    return subprocess.Popen(
        ["turnserver", "-n", "--listening-ip", address, "--relay-ip", address, "--listening-port", str(port), "--use-auth-secret",
         "--static-auth-secret", SECRET, "--realm", "svc", "--no-tls", "--no-dtls", "--no-cli", "--log-file", "stdout",
         "--simple-log", "--pidfile", str(folder / "turn.pid"), "--userdb", str(folder / "turn.db"), "--no-multicast-peers"],
        stdin=subprocess.DEVNULL, stdout=open(folder / "turn.log", "wb"), stderr=subprocess.STDOUT, cwd=folder)


@unittest.skipUnless(shutil.which("turnserver"), "needs the package coturn")
class Turn(streaming.StreamTest):
    @classmethod
    def serve(cls):
        cls.corner = Corner()
        cls.addClassCleanup(cls.corner.close)
        cls.corner.open()
        port = cls.relay_port
        cls.programs.append(start_relay(cls.corner.host, port, cls.daemon.dir))
        cls.turn = f"{cls.corner.host}:{port}"
        cls.gateway_settings = {"turn": {"urls": [f"turn:{cls.turn}?transport=udp"], "secret": SECRET, "ttl": "1h"}}
        super().serve()
        cls.gateway.settings["public_url"] = f"https://{cls.corner.host}:{cls.gateway.port}"
        cls.gateway.kill(signal.SIGTERM)
        cls.gateway.start()

    def relay_log(self):
        return (self.daemon.dir / "turn.log").read_text(errors="replace")[-3000:]

    def test_pictures_go_by_the_relay_where_there_is_no_other_way(self):
        session = self.gateway.create(screen={"width": 1280, "height": 720, "fps": 30})
        id = session["id"]
        self.gateway.await_status(id, "active")
        address = self.daemon.container(self.gateway.session(id)["container_id"])["address"]
        self.assertTrue(self.corner.reaches(self.corner.host))
        self.assertFalse(self.corner.reaches(address.split("/")[0]))
        server = next(s for s in session["stun_servers"] if s.get("username"))
        user, password = (urllib.parse.quote(server[key], safe="") for key in ("username", "password"))
        client = self.client(session, "--turn-url", f"turn://{user}:{password}@{self.turn}",
                             prefix=("ip", "netns", "exec", self.corner.name))
        client.connected()
        client.must("frames", 5)
        self.assertEqual(client.must("colour", 200, 100)["width"], 1280)
        self.assertTrue(eventually(lambda: self.metric("webrtc_relay_in_use", session=id) == 1), self.scrape())

    def test_credentials_that_the_gateway_did_not_make_are_refused(self):
        session = self.gateway.create(screen={"width": 1280, "height": 720, "fps": 30})
        self.gateway.await_status(session["id"], "active")
        client = self.client(session, "--turn-url", f"turn://4102444800%3Amallory:wrong@{self.turn}", "--relay-only",
                             prefix=("ip", "netns", "exec", self.corner.name))
        self.assertTrue(eventually(lambda: "401" in self.relay_log() or "Cannot" in self.relay_log()), self.relay_log())
        client.process.kill()


if __name__ == "__main__":
    harness.cases.main()

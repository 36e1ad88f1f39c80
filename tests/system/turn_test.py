#!/usr/bin/env python3
"""Client and instance cannot reach each other: pictures go by way of Debian's coturn, with credentials that the gateway made."""
import os
import random
import shutil
import signal
import subprocess
import unittest
import urllib.parse

import harness
import streaming
from streaming import eventually

TIMED_OUT = 124  # of timeout(1)
SECRET = "a secret of this test"


def run(*command):
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=streaming.PATIENCE)


class Corner:
    """A network of its own for the client: it reaches this machine, and nothing beyond."""

    def __init__(self):
        number = os.getpid() % 100000
        self.name, self.outside, self.inside = f"svct{number}", f"svct{number}o", f"svct{number}i"
        net = f"10.{random.randrange(16, 250)}.{random.randrange(1, 250)}"
        self.host, self.client = net + ".1", net + ".2"

    def open(self):
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.outside, "type", "veth", "peer", "name", self.inside, "netns", self.name)
        run("ip", "address", "add", self.host + "/30", "dev", self.outside)
        run("ip", "link", "set", self.outside, "up")
        self.enter("ip", "address", "add", self.client + "/30", "dev", self.inside)
        self.enter("ip", "link", "set", self.inside, "up")
        self.enter("ip", "route", "add", "default", "via", self.host)
        rules = f"""table inet {self.name} {{
            chain forward {{
                type filter hook forward priority -200
                iifname {self.outside} drop
                oifname {self.outside} drop
            }}
            chain input {{
                type filter hook input priority -200
                iifname {self.outside} ip daddr != {self.host} drop
            }}
        }}"""
        subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True, timeout=streaming.PATIENCE)

    def enter(self, *command):
        run("ip", "netns", "exec", self.name, *command)

    def reaches(self, address):
        """Whoever is there accepts the connection or refuses it; beyond a wall nobody answers."""
        knock = ["ip", "netns", "exec", self.name, "timeout", "2", "bash", "-c", f": </dev/tcp/{address}/1"]
        return subprocess.run(knock, capture_output=True).returncode != TIMED_OUT

    def close(self):
        for command in (["nft", "delete", "table", "inet", self.name], ["ip", "netns", "delete", self.name]):
            subprocess.run(command, capture_output=True, timeout=streaming.PATIENCE)
        subprocess.run(["ip", "link", "delete", self.outside], capture_output=True, timeout=streaming.PATIENCE)


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
        port = streaming.free_port()
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
        client.must("frames", 30)
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
    unittest.main()

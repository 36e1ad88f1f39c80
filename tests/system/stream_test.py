#!/usr/bin/env python3
"""A real stream: desktop in a container, streamer in it, gateway, and a client that decodes what comes. With SVC_TEST_LONG=1 also
what takes minutes."""
import json
import os
import signal
import socket
import struct
import unittest

import harness
import streaming
from streaming import eventually

SCREEN = {"width": 1280, "height": 720, "density": 160, "fps": 30}
KEY_F9 = 66
MIDDLE = (640, 270)
SOME_FRAMES = 5  # a screen on which nothing moves is sent once a second
NOT_FOUND = 404


class Stream(streaming.StreamTest):
    @classmethod
    def serve(cls):
        cls.daemon.add_image()
        cls.daemon.create_app({"manifest.yaml": "name: plain\ninstance-type: a2.3\nimage: busybox\naddons: [svc-streamer]\n"})
        super().serve()

    def stream(self, **fields):
        """Once all hooks have run: the streamer is there before those of the application."""
        session = self.gateway.create(screen=SCREEN, **fields)
        client = self.client(session).connected()
        instance = self.instance(session["id"])
        self.assertTrue(eventually(lambda: self.daemon.container(instance)["status"] == "running"))
        return session["id"], client

    def join(self, id, **fields):
        reply = self.gateway.api("POST", f"/1.0/sessions/{id}/join", fields)
        self.assertEqual(reply.status, 200, reply.raw)
        return self.client(reply.metadata).connected()

    def instance(self, id):
        return self.gateway.session(id)["container_id"]

    def streamer(self, id):
        """Its process, as the guest numbers it."""
        return self.daemon.execute(self.instance(id), "pidof", "loader").strip()

    def press(self, client, code):
        for pressed in (True, False):
            client.send("input::key", code=code, pressed=pressed)

    def square(self, client):
        """Its colour, once the program that draws it is on the screen: it takes keys by then."""
        def shown():
            colour = client.must("colour", *MIDDLE)["colour"]
            return [wanted for wanted in (streaming.SQUARE_CYAN, streaming.SQUARE_MAGENTA)
                    if all(abs(a - b) < 64 for a, b in zip(colour, wanted))]
        self.assertTrue(eventually(shown), client.must("colour", *MIDDLE))
        return shown()[0]

    def stream_active(self, id):
        """What the agent tells; None while there is none."""
        shown = self.daemon.ctl("exec", self.instance(id), "--", harness.AGENT_INSIDE, "ctl", "platform", "show")
        return json.loads(shown.stdout)["config"]["stream_active"] if shown.returncode == 0 else None

    def test_each_client_gets_a_codec_it_knows(self):
        id, first = self.stream(joinable=True)
        first.must("frames", 10)
        for codec in ("VP8", "H264"):
            reply = self.gateway.api("POST", f"/1.0/sessions/{id}/join", {})
            client = self.client(reply.metadata, "--codecs", codec).connected()
            client.must("frames", 10)
            self.assert_flips(client)
        stranger = self.client(self.gateway.api("POST", f"/1.0/sessions/{id}/join", {}).metadata, "--codecs", "none")
        self.assertEqual(stranger.read(), {"error": "answer has no codec in common"})
        self.join(id).must("frames", 10)

    def assert_flips(self, client):
        """A key reaches the program in the guest, and what it draws comes back."""
        wanted = streaming.SQUARE_MAGENTA if self.square(client) == streaming.SQUARE_CYAN else streaming.SQUARE_CYAN
        self.press(client, KEY_F9)
        client.must("until", *MIDDLE, *wanted)

    def test_a_session_is_seen_used_and_measured(self):
        id, client = self.stream()
        seen = client.must("colour", 200, 100)
        self.assertEqual((seen["width"], seen["height"]), (1280, 720))
        self.assert_flips(client)
        self.assertTrue(eventually(lambda: client.must("sound")["packets"]))
        self.assertTrue(eventually(lambda: self.stream_active(id)))
        self.assertTrue(eventually(lambda: self.gateway.session(id)["client_connected"]))
        self.assertEqual(self.gateway.session(id)["status"], "active")
        self.assertTrue(eventually(lambda: (self.metric("webrtc_frames_encoded", session=id, app="desktop") or 0) > 0))
        self.assertTrue(eventually(lambda: self.metric("webrtc_relay_in_use", session=id) == 0))
        self.assertTrue(eventually(lambda: (self.metric("webrtc_bytes_sent", session=id, kind="video") or 0) > 0))
        client.send("stream::disconnect")
        self.assertTrue(eventually(lambda: not self.gateway.session(id)["client_connected"]))
        self.assertTrue(eventually(lambda: self.stream_active(id) is False))

    def test_the_next_client_takes_over_with_its_own_screen(self):
        id, first = self.stream()
        first.must("frames", 5)
        second = self.join(id, screen={"width": 800, "height": 600})
        self.assertTrue(eventually(lambda: second.must("colour", 10, 10)["width"] == 800))
        self.assertEqual(second.must("colour", 10, 10)["height"], 600)
        self.assertTrue(eventually(lambda: self.gateway.session(id)["client_connected"]))

    def test_an_instance_killed_in_mid_stream_is_the_sessions_error(self):
        id, client = self.stream()
        client.must("frames", 5)
        for pid in harness.pids_of(self.instance(id)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        record = self.gateway.await_status(id, "error")
        self.assertRegex(record["status_message"], "[a-z]{4}")
        self.assertEqual(self.gateway.api("DELETE", f"/1.0/sessions/{id}?sync=true").status, 200)
        self.assertEqual(self.gateway.api("GET", f"/1.0/sessions/{id}").status, NOT_FOUND)

    def test_media_goes_on_without_gateway_and_service(self):
        """The instance comes back to a gateway that has another certificate for the page by then."""
        id, client = self.stream()
        client.must("frames", 5)
        before = self.gateway.certificate()
        self.gateway.kill()
        self.daemon.kill()
        client.must("frames", SOME_FRAMES)
        for file in (self.gateway.dir / "gateway/tls").glob("server.*"):
            file.unlink()
        self.daemon.start()
        self.gateway.start()
        self.assert_flips(client)
        self.assertTrue(eventually(lambda: self.gateway.session(id)["client_connected"]), self.gateway.log())
        self.gateway.await_status(id, "active")
        self.assertNotEqual(self.gateway.certificate(), before)
        self.assert_flips(self.join(id))

    def test_a_streamer_that_dies_and_an_agent_that_dies_come_back(self):
        id, client = self.stream()
        client.must("frames", 5)
        instance, before = self.instance(id), self.streamer(id)
        self.daemon.execute(instance, "sh", "-c", "kill -9 $(pidof svc-agent | tr ' ' '\\n' | sort -n | head -1)")
        client.must("frames", SOME_FRAMES)
        self.assertEqual(self.streamer(id), before)
        self.assertTrue(eventually(lambda: self.stream_active(id)))
        self.daemon.execute(instance, "kill", "-9", before)
        self.assertTrue(eventually(lambda: not self.gateway.session(id)["client_connected"]))
        running = lambda: self.daemon.ctl("exec", instance, "--", "pidof", "loader").stdout.decode().strip()
        self.assertTrue(eventually(lambda: running() not in ("", before)))
        self.assert_flips(self.join(id))
        self.assertTrue(eventually(lambda: b"killed by signal 9" in self.daemon.ctl("logs", instance).stdout))

    def test_a_session_that_cannot_be_joined_ends_with_its_client(self):
        id, client = self.stream(joinable=False)
        client.must("frames", 5)
        client.send("stream::disconnect")
        self.assertTrue(eventually(lambda: self.gateway.api("GET", f"/1.0/sessions/{id}").status == NOT_FOUND))
        self.assertTrue(eventually(lambda: not self.daemon.containers()))

    def test_a_guest_without_x_and_debian_streams_the_frames_it_draws(self):
        session = self.gateway.create(app="plain", screen={"width": 640, "height": 480, "fps": 30})
        self.gateway.await_status(session["id"], "active")
        client = self.client(session).connected()
        root = f"/proc/{harness.pids_of(self.instance(session['id']))[0]}/root"
        with socket.socket(socket.AF_UNIX) as guest:
            guest.connect(root + "/run/svc/frames.unix")
            for red, green, blue in ((200, 30, 30), (30, 30, 200)):
                guest.sendall(b"SVCF" + struct.pack("<III", 640, 480, 640 * 4) + bytes((red, green, blue, 255)) * (640 * 480))
                client.must("until", 320, 240, red, green, blue)

    @unittest.skipUnless(os.environ.get("SVC_TEST_LONG"), "a minute of waiting: SVC_TEST_LONG=1")
    def test_a_session_that_nobody_watches_ends(self):
        id, client = self.stream(idle_time_min=1)
        client.must("frames", 5)
        client.send("stream::disconnect")
        self.assertTrue(eventually(lambda: self.gateway.api("GET", f"/1.0/sessions/{id}").status == NOT_FOUND, 150))
        self.assertTrue(eventually(lambda: not self.daemon.containers()))


if __name__ == "__main__":
    harness.cases.main()

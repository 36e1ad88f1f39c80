#!/usr/bin/env python3
"""A real stream: desktop in a container, streamer in it, gateway, and a client that decodes what comes. With SVC_TEST_LONG=1 also
what takes minutes."""
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import threading
import unittest

import harness
import streaming
from streaming import eventually

SCREEN = {"width": 1280, "height": 720, "density": 160, "fps": 30}
KEY_F9 = 66
MIDDLE = (640, 270)
SOME_FRAMES = 5  # a screen on which nothing moves is sent once a second
NOT_FOUND = 404
EVENT, BUTTON_SOUTH = struct.Struct("llHHi"), 304  # of linux/input.h


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

    @unittest.skipIf(os.path.exists("/dev/uinput"), "needs a machine without /dev/uinput")
    def test_a_program_of_the_desktop_reads_the_clients_gamepad(self):
        id, client = self.stream()
        instance = self.instance(id)
        manager = self.daemon.execute(instance, "sh", "-c", "tr '\\0' '\\n' <\"/proc/$(pidof openbox)/environ\"")
        preload = next(line for line in manager.splitlines() if line.startswith("LD_PRELOAD="))
        press = lambda pressed: client.send("input::gamepad-button", id=0, index=0, pressed=pressed)
        press(True)
        self.assertTrue(eventually(lambda: "event0" in self.daemon.execute(instance, "ls", "/dev/input")))
        read = f"{preload} exec head -c {EVENT.size} /dev/input/event0"
        reader = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", instance, "--", "setpriv", "--reuid=1000",
                                   "--regid=1000", "--clear-groups", "sh", "-c", read], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(reader.communicate)
        self.addCleanup(reader.kill)

        def has_read():
            press(False)
            press(True)
            return reader.poll() is not None
        self.assertTrue(eventually(has_read))
        self.assertEqual(EVENT.unpack(reader.stdout.read())[2:4], (1, BUTTON_SOUTH))

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

    def capture(self, *words):
        """svcctl with these words has written a file."""
        done = self.daemon.ctl(*words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def colours(self, file, x, y):
        """Of one pixel, in each picture of the file."""
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-vf", f"format=rgb24,crop=2:2:{x}:{y}", "-f", "rawvideo",
                              "-pix_fmt", "rgb24", "-"], capture_output=True, timeout=harness.PATIENCE, check=True).stdout
        return [tuple(raw[at:at + 3]) for at in range(0, len(raw), 12)]

    def probe(self, file, codec="h264"):
        """What ffprobe, which complains of nothing, says of the one stream in a file and of the file."""
        shown = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", file], capture_output=True,
                               timeout=harness.PATIENCE, check=True)
        self.assertEqual(shown.stderr, b"")
        known = json.loads(shown.stdout)
        self.assertEqual([stream["codec_name"] for stream in known["streams"]], [codec])
        return known["streams"][0], known["format"]

    def screenshot(self, instance, x, y):
        file = self.daemon.dir / "shot.png"
        self.capture("screenshot", instance, "--output", file)
        stream, form = self.probe(file, "png")
        self.assertEqual((form["format_name"], stream["pix_fmt"]), ("png_pipe", "rgb24"))
        return self.colours(file, x, y)

    def recording(self, instance, *words):
        """A recording that goes on, and its file."""
        file = self.daemon.dir / "recording.mp4"
        file.unlink(missing_ok=True)
        process = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "record", instance, "--output", file, *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        begun = lambda: [part for part in self.daemon.dir.glob(".svcctl-*/capture") if part.stat().st_size]
        self.assertTrue(eventually(lambda: begun() or process.poll() is not None))
        return process, file

    def end_of(self, process):
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)

    @unittest.skipUnless(shutil.which("ffprobe"), "needs ffmpeg")
    def test_what_is_shown_is_captured_whether_somebody_watches_or_not(self):
        id, client = self.stream(joinable=True)
        instance, square = self.instance(id), self.square(client)
        other = streaming.SQUARE_MAGENTA if square == streaming.SQUARE_CYAN else streaming.SQUARE_CYAN
        self.assertEqual(self.screenshot(instance, *MIDDLE), [square])
        process, file = self.recording(instance, "--duration", "4")
        refused = self.daemon.ctl("record", instance, "--output", self.daemon.dir / "second.mp4")
        self.assertIn(f"container {instance} is being recorded already".encode(), refused.stderr)
        self.press(client, KEY_F9)
        client.must("until", *MIDDLE, *other)
        self.end_of(process)
        stream, form = self.probe(file)
        self.assertIn("mp4", form["format_name"])
        self.assertEqual((stream["width"], stream["height"], stream["profile"]), (1280, 720, "Constrained Baseline"))
        self.assertAlmostEqual(float(form["duration"]), 4, delta=0.7)
        seen = self.colours(file, *MIDDLE)
        for colour, wanted in ((seen[0], square), (seen[-1], other)):
            self.assertTrue(all(abs(a - b) < 40 for a, b in zip(colour, wanted)), (colour, wanted))
        client.must("frames", SOME_FRAMES)
        client.send("stream::disconnect")
        self.assertTrue(eventually(lambda: not self.gateway.session(id)["client_connected"]))
        self.assertEqual(self.screenshot(instance, *MIDDLE), [other])
        process, file = self.recording(instance)
        process.send_signal(signal.SIGINT)
        self.end_of(process)
        self.probe(file)
        again = ("record", instance, "--output", file, "--duration", "1")  # the service has to notice that its client has left
        self.assertTrue(eventually(lambda: self.daemon.ctl(*again).returncode == 0))
        process, file = self.recording(instance)
        self.join(id, screen={"width": 800, "height": 600}).must("frames", SOME_FRAMES)
        self.end_of(process)  # it has one size, and ends with it
        self.assertEqual(self.probe(file)[0]["width"], 1280)
        self.assertEqual(len(self.screenshot(instance, 700, 500)), 1)

    @unittest.skipUnless(shutil.which("ffprobe"), "needs ffmpeg")
    def test_a_guest_without_x_is_captured_while_nobody_watches(self):
        session = self.gateway.create(app="plain", screen={"width": 640, "height": 480, "fps": 30})
        self.gateway.await_status(session["id"], "active")
        instance, shots = self.instance(session["id"]), []
        frames = pathlib.Path(f"/proc/{harness.pids_of(instance)[0]}/root/run/svc/frames.unix")
        self.assertFalse(frames.exists())
        taking = threading.Thread(target=lambda: shots.extend(self.screenshot(instance, 320, 240)))
        taking.start()
        self.assertTrue(eventually(frames.exists))
        with socket.socket(socket.AF_UNIX) as guest:
            guest.connect(str(frames))
            guest.sendall(b"SVCF" + struct.pack("<III", 640, 480, 640 * 4) + bytes((200, 30, 30, 255)) * (640 * 480))
            taking.join()
        self.assertEqual(shots, [(200, 30, 30)])
        self.assertTrue(eventually(lambda: not frames.exists()))

    def test_an_instance_of_no_session_shows_nothing(self):
        instance = self.daemon.launch()
        refused = self.daemon.ctl("screenshot", instance, "--output", self.daemon.dir / "none.png")
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"container {instance} does not stream".encode(), refused.stderr)
        self.daemon.ctl("delete", instance, "--yes")

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

    def test_a_guest_without_x_is_drawn_and_used_through_its_display(self):
        session = self.gateway.create(app="plain", screen={"width": 640, "height": 480, "fps": 30})
        self.gateway.await_status(session["id"], "active")
        init = harness.pids_of(self.instance(session["id"]))[0]
        # As root of the guest, with the libraries of this machine: those of the guest are too few.
        guest = subprocess.Popen(["nsenter", "-t", str(init), "-U", "-S", "0", "-G", "0", "--", streaming.GUEST_DISPLAY, "--socket",
                                  f"/proc/{init}/root/run/svc/display.unix"], stderr=subprocess.DEVNULL)
        try:
            client = self.client(session).connected()
            client.must("until", 320, 240, 0x20, 0x30, 0x60)
            client.send("input::touch-start", id=3, x=320, y=240)
            client.must("until", 320, 240, 0xf0, 0xa0, 0x20)
            client.send("input::touch-end", id=3)
            client.must("until", 320, 240, 0x20, 0x30, 0x60)
        finally:
            guest.kill()
            guest.wait()

    @unittest.skipUnless(os.environ.get("SVC_TEST_LONG"), "a minute of waiting: SVC_TEST_LONG=1")
    def test_a_session_that_nobody_watches_ends(self):
        id, client = self.stream(idle_time_min=1)
        client.must("frames", 5)
        client.send("stream::disconnect")
        self.assertTrue(eventually(lambda: self.gateway.api("GET", f"/1.0/sessions/{id}").status == NOT_FOUND, 150))
        self.assertTrue(eventually(lambda: not self.daemon.containers()))


if __name__ == "__main__":
    harness.cases.main()

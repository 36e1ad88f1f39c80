#!/usr/bin/env python3
"""Sound of the guest in a real browser, and the browser's camera and microphone in the guest."""
import array
import contextlib
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import browser
import stream_test
import world
import harness  # of tests/system, which world.py adds to the path

RATE = 48000
LOUD, QUIET = 2000, 300  # of 32767
GUEST_CAT = harness.BUILD / "instance-agent/samples/svc-guest-cat"


class SoundServer:
    """PulseAudio with speakers nobody hears: the first one is the default."""

    def __init__(self, folder, sinks):
        self.socket = folder / "sound.socket"
        script = folder / "sound.pa"
        lines = [*(f"load-module module-null-sink sink_name={name}" for name in sinks), f"set-default-sink {sinks[0]}",
                 f"load-module module-native-protocol-unix auth-anonymous=1 socket={self.socket}"]
        script.write_text("".join(line + "\n" for line in lines))
        self.environment = {**os.environ, "HOME": str(folder), "PULSE_RUNTIME_PATH": str(folder / "pulse"),
                            "PULSE_SERVER": f"unix:{self.socket}"}
        own = {name: value for name, value in self.environment.items() if name != "PULSE_SERVER"}
        self.program = world.Program(folder, "sound", ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1",
                                                       "--use-pid-file=no", "--log-target=stderr", "-F", script], env=own)
        world.eventually(self.socket.exists, "the sound server's socket")

    def player(self):
        return self.start("pacat", stdin=subprocess.PIPE)

    def recorder(self, sink):
        return self.start("parec", f"--device={sink}.monitor", stdout=subprocess.PIPE)

    def start(self, program, *options, **pipes):
        return subprocess.Popen([program, "--raw", "--format=s16le", f"--rate={RATE}", "--channels=2", "--latency-msec=50", *options],
                                env=self.environment, stderr=subprocess.DEVNULL, **pipes)


class SoundingGuest(world.Guest):
    """A guest with a sound server as the image `desktop` has it."""

    def start_agent(self):
        super().start_agent()
        self.sound = SoundServer(self.dir, ["speaker", "svc_microphone"])
        self.programs["sound"] = self.sound.program

    def streamer_options(self):
        return ["--audio", self.sound.socket]


class SoundingWorld(world.World):
    guest_type = SoundingGuest


def loudness(recorder):
    """Of a tenth of a second, left and right."""
    samples = array.array("h", recorder.stdout.read(RATE // 10 * 4))
    return [max(map(abs, samples[side::2]), default=0) for side in (0, 1)]


@unittest.skipUnless(stream_test.UNHURRIED, "takes a while")
@unittest.skipUnless(shutil.which("pulseaudio") and shutil.which("pacat"), "needs PulseAudio")
class DevicesTest(stream_test.WorldTest):
    @classmethod
    def make_world(cls):
        return SoundingWorld()

    @classmethod
    def make_browser(cls):
        folder = tempfile.TemporaryDirectory(prefix="svc-sound-")
        cls.addClassCleanup(folder.cleanup)
        cls.headphones = SoundServer(pathlib.Path(folder.name), ["headphones"])
        cls.addClassCleanup(cls.headphones.program.kill)
        return browser.Browser(PULSE_SERVER=f"unix:{cls.headphones.socket}")

    def running(self, process):
        """Ends with the test, or when time is over."""
        timer = threading.Timer(world.PATIENCE, process.kill)
        timer.start()

        def end():
            timer.cancel()
            process.kill()
            process.wait()
            for pipe in process.stdin, process.stdout:
                if pipe:
                    with contextlib.suppress(OSError):  # what was not written yet
                        pipe.close()
        self.addCleanup(end)
        return process

    def play_on_the_left(self, sound):
        wave = array.array("h", bytes(RATE * 4))
        wave[0::2] = array.array("h", (round(12000 * math.sin(2 * math.pi * 1000 * at / RATE)) for at in range(RATE)))
        player = self.running(sound.player())

        def play():
            try:
                while True:
                    player.stdin.write(wave.tobytes())
            except (OSError, ValueError):
                pass  # it has been ended
        thread = threading.Thread(target=play)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(player.kill)

    def listen(self, recorder, wanted):
        """Until the loudness of left and right is as wanted; fails when time is over."""
        heard = []

        def fits():
            heard[:] = loudness(recorder)
            return wanted(*heard)
        try:
            world.eventually(fits, "the sound is as wanted", pause=0)
        except AssertionError as error:
            raise AssertionError(f"{error}: the last was {heard}") from None

    def test_what_the_guest_plays_is_heard_on_its_side(self):
        session = self.start()
        self.play_on_the_left(self.world.guests[session].sound)
        ears = self.running(self.headphones.recorder("headphones"))
        self.listen(ears, lambda left, right: left > LOUD and right < QUIET)

    def test_sound_is_switched_off_and_on(self):
        session = self.start()
        self.play_on_the_left(self.world.guests[session].sound)
        ears = self.running(self.headphones.recorder("headphones"))
        self.listen(ears, lambda left, _: left > LOUD)
        self.browser.click(selector="#sound")
        self.listen(ears, lambda left, _: left < QUIET)
        self.browser.click(selector="#sound")
        self.listen(ears, lambda left, _: left > LOUD)

    def test_the_camera_is_seen_in_the_guest_while_it_is_open(self):
        guest = self.world.guests[self.start(devices=True)]
        camera = self.running(subprocess.Popen([GUEST_CAT, "--socket", guest.dir / "guest.unix", "camera", "0", "640", "480", "30"],
                                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        self.assertTrue(any("frame 640x480" in line and "first 000000ff" not in line for line in camera.stdout))

    def test_the_microphone_is_heard_in_the_guest_while_something_listens(self):
        guest = self.world.guests[self.start(devices=True)]
        self.listen(self.running(guest.sound.recorder("svc_microphone")), lambda left, _: left > LOUD)


class ThroughTheGatewayTest(stream_test.NoPacketsTest, DevicesTest):
    """TCP to the gateway is all that the instance's network lets through: no WebRTC."""
    world_type = SoundingWorld
    test_the_stream_goes_through_the_gateway = None
    test_the_camera_is_seen_in_the_guest_while_it_is_open = None  # there is none

    def recordings(self, sound):
        listed = subprocess.run(["pactl", "list", "short", "source-outputs"], env=sound.environment, capture_output=True, text=True,
                                timeout=world.PATIENCE, check=True)
        return listed.stdout.splitlines()

    def test_the_sound_is_recorded_while_somebody_listens(self):
        sound = self.world.guests[self.start()].sound
        world.eventually(lambda: len(self.recordings(sound)) == 1, "the guest's sound is recorded")
        self.browser.click(selector="#leave")
        world.eventually(lambda: not self.recordings(sound), "it is not any more")
        self.assertEqual(self.browser.said(), [])


if __name__ == "__main__":
    harness.cases.main()

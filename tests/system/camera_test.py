#!/usr/bin/env python3
"""Pictures and video that are put in from outside are what a guest's camera shows."""
import shutil
import socket
import subprocess
import unittest

import harness
import injection

WIDTH, HEIGHT = 640, 480
FRAME = WIDTH * HEIGHT * 4
PIXELS = "/tmp/pixels"
CAMERA = ["--pixels", PIXELS, "camera", 0, WIDTH, HEIGHT, 30]


def ffmpeg(*words, stdin=None):
    return subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *map(str, words)], input=stdin, check=True,
                          capture_output=True, timeout=injection.PATIENCE).stdout


def frame(red, green, blue):
    return bytes((red, green, blue, 255)) * (WIDTH * HEIGHT)


def is_frame(red, green, blue):
    return lambda line: f"first {red:02x}{green:02x}{blue:02x}ff" in line


@unittest.skipUnless(shutil.which("ffmpeg"), "needs ffmpeg")
class Camera(injection.InjectionTest):
    def setUp(self):
        super().setUp()
        self.folder = injection.scratch(self)

    def picture(self, size=f"{WIDTH}x{HEIGHT}"):
        """A JPEG with something in it, and what a decoder other than ours makes of it."""
        file = self.folder / f"{size}.jpg"
        ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}", "-frames:v", 1, "-q:v", 2, file)
        return file, ffmpeg("-i", file, "-pix_fmt", "rgba", "-f", "rawvideo", "-")

    def pixels(self):
        """The newest frame as the guest has it."""
        return self.daemon.ctl("exec", self.id, "--", "cat", PIXELS).stdout

    def assert_alike(self, seen, wanted):
        self.assertEqual(len(seen), len(wanted))
        self.assertLess(sum(abs(a - b) for a, b in zip(seen[::7], wanted[::7])) * 7 / len(wanted), 2)

    def video_socket(self):
        """Where video goes in, as programs of this machine with the rights of the instance's root see it."""
        answer = injection.json.loads(self.execute(harness.AGENT_INSIDE, "ctl", "request", "POST", "/1.0/camera", '{"enable":true}'))
        return self.inside(answer["video_stream_socket"])

    def as_video(self, *colours):
        """A lossless clip, some seconds of each colour: who is late sees it still."""
        file = self.folder / "clip.mkv"
        raw = b"".join(frame(*colour) * 8 for colour in colours)
        ffmpeg_in = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{WIDTH}x{HEIGHT}",
                     "-framerate", "2", "-i", "-", "-c:v", "ffv1", "-pix_fmt", "bgr0", file]
        subprocess.run(ffmpeg_in, input=raw, check=True, capture_output=True, timeout=injection.PATIENCE)
        return file

    def test_a_picture_is_what_the_guest_sees(self):
        file, wanted = self.picture()
        self.assertIn("Camera support is not enabled", self.instance("camera", "image", file, status=1))
        self.instance("camera", "enable")
        reader = self.reader(*CAMERA)
        reader.until(is_frame(0, 0, 0))
        self.instance("camera", "image", file)
        self.assertIs(self.instance("camera", "show")["data_available"], True)
        first = "".join(f"{byte:02x}" for byte in wanted[:2])
        self.assertNotEqual(first, "0000", "the picture's corner is black")
        reader.until(lambda line: "first 000000ff" not in line)
        reader.line()
        self.assert_alike(self.pixels(), wanted)
        self.instance("camera", "clear")
        reader.until(is_frame(0, 0, 0))
        self.instance("camera", "disable")
        self.assertIn("camera support was disabled", reader.until(lambda line: "closed" in line))

    def test_pictures_that_are_none_are_refused_and_the_last_one_stays(self):
        self.instance("camera", "enable")
        file, _ = self.picture()
        self.instance("camera", "image", file)
        odd, _ = self.picture("320x200")
        self.assertIn("Image size 320x200 is not supported", self.instance("camera", "image", odd, status=1))
        odd.write_bytes(file.read_bytes()[:-2000])
        self.assertIn("not a valid JPEG", self.instance("camera", "image", odd, status=1))
        self.assertIs(self.instance("camera", "show")["data_available"], True)

    def test_a_video_file_plays_in_the_camera(self):
        reader = self.reader(*CAMERA)
        reader.line()
        clip = self.as_video((200, 10, 30), (10, 220, 60))
        self.instance("camera", "video", clip, "--size", f"{WIDTH}x{HEIGHT}")
        for colour in (200, 10, 30), (10, 220, 60), (0, 0, 0):  # after its end there is nothing to see
            self.assertIn(f"frame {WIDTH}x{HEIGHT} ", reader.until(is_frame(*colour)))
        self.assertIs(self.instance("camera", "show")["enabled"], True)

    def test_frames_are_streamed_through_a_pipe(self):
        reader = self.reader(*CAMERA)
        reader.line()
        writer = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", self.id, "--", harness.AGENT_INSIDE,
                                   "ctl", "camera", "stream"], stdin=subprocess.PIPE)
        for colour in (1, 2, 3), (90, 80, 70):
            writer.stdin.write(frame(*colour))
            writer.stdin.flush()
            reader.until(is_frame(*colour))
        reader.line()
        self.assertEqual(self.pixels(), frame(90, 80, 70))
        writer.stdin.write(frame(7, 7, 7)[:FRAME // 2])  # half a frame is never shown
        writer.stdin.close()
        self.assertEqual(writer.wait(injection.PATIENCE), 0)
        reader.until(is_frame(0, 0, 0))

    def test_ffmpeg_writes_to_the_video_socket_itself(self):
        reader = self.reader(*CAMERA)
        reader.line()
        clip = self.as_video((9, 99, 199), (255, 0, 128))
        path = self.video_socket()
        with open(clip, "rb") as video:
            player = subprocess.Popen([*self.as_instance_root(), "ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i", "pipe:0",
                                       "-pix_fmt", "rgba", "-f", "rawvideo", f"unix:{path}"], stdin=video)
        for colour in (9, 99, 199), (255, 0, 128):
            reader.until(is_frame(*colour))
        self.assertEqual(player.wait(injection.PATIENCE), 0)

    def test_a_new_socket_at_each_toggle_and_none_for_strangers(self):
        first = self.video_socket()
        self.assertEqual(self.video_socket(), first)
        with socket.socket(socket.AF_UNIX) as stranger:  # root of the machine is nobody in the instance
            stranger.connect(first)
            self.assertEqual(stranger.recv(1), b"")
        self.instance("camera", "disable")
        self.assertFalse(injection.pathlib.Path(first).exists())
        second = self.video_socket()
        self.assertNotEqual(second, first)
        self.kill_agent()
        third = self.video_socket()
        self.assertNotEqual(third, second)
        self.assertEqual([third], [str(path) for path in injection.pathlib.Path(third).parent.glob("camera_video_stream_*")])

    def test_the_pictures_turn_with_the_screen(self):
        file, wanted = self.picture("1280x720")
        self.instance("camera", "enable")
        self.instance("camera", "image", file)
        self.execute(injection.CAT_INSIDE, "call", "display.set_orientation", '"orientation":"portrait"')
        reader = self.reader("--count", 3, "--pixels", PIXELS, "camera", 0, 1280, 720, 30)
        self.assertIn("frame 720x1280 ", reader.rest()[-1])
        turned = ffmpeg("-f", "rawvideo", "-pix_fmt", "rgba", "-s", "1280x720", "-i", self.raw(wanted), "-vf", "transpose=clock",
                        "-pix_fmt", "rgba", "-f", "rawvideo", "-")
        self.assert_alike(self.pixels(), turned)

    def raw(self, pixels):
        file = self.folder / "raw"
        file.write_bytes(pixels)
        return file


if __name__ == "__main__":
    harness.cases.main()

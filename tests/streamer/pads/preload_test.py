#!/usr/bin/env python3
"""Programs that know evdev, libevdev or SDL play with a client's gamepads by the preloaded library, in a /dev of their own.

usage: preload_test.py LIBRARY PLAYER"""
import ctypes.util
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import cases

READER = pathlib.Path(__file__).with_name("pad_reader.py")
PATIENCE = 60
LIBRARY, PLAYER, FOLDER = os.environ.get("PADS_LIBRARY"), os.environ.get("PADS_PLAYER"), "/dev/input"
SOUTH, EAST = 0, 1


class Program:
    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                        env={**os.environ, **environment})
        self.buffer = b""

    def line(self):
        """Its next line; None: it has ended."""
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                raise TimeoutError(f"{self.process.args} says nothing")
            more = self.process.stdout.read(4096)
            if not more:
                return None
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def tell(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Pads(unittest.TestCase):
    def setUp(self):
        self.player = self.start(PLAYER, FOLDER)

    def start(self, *command, **environment):
        program = Program(*command, **environment)
        self.addCleanup(program.end)
        return program

    def reader(self, kind):
        return self.start(sys.executable, READER, kind, LD_PRELOAD=LIBRARY)

    def play(self, *words):
        self.player.tell(*words)
        self.assertEqual(self.player.line(), "done")

    def button(self, pad, index, value):
        self.play("button", pad, index, value)

    def expect(self, program, *lines):
        for line in lines:
            self.assertEqual(program.line(), line)

    def test_a_program_without_a_library_reads_the_device(self):
        self.button(0, SOUTH, 1)
        self.button(1, EAST, 1)
        self.play("axis", 0, 0, 0.5)
        program = self.reader("plain")
        self.expect(program, "/dev/input/event0 is a device 13 64", "/dev/input/event1 is a device 13 65",
                    "name svc stream gamepad 1", "id 6 7531 260 1", "stick 16384 -32767 32767 0 0 0", "down 96 [304]",
                    "nothing to read")
        self.button(0, SOUTH, 0)
        self.expect(program, "event 1 304 0", "event 0 0 0")
        self.button(1, EAST, 0)  # of the other gamepad
        self.play("axis", 0, 4, 1)
        self.expect(program, "event 3 2 255", "event 0 0 0")
        self.play("remove")
        self.expect(program, "read ENODEV", None)

    def test_without_the_library_nothing_opens(self):
        self.button(0, SOUTH, 1)
        program = self.start(sys.executable, "-c", f"open('{FOLDER}/event0', 'rb')", LD_PRELOAD="")
        program.process.wait(PATIENCE)
        self.assertNotEqual(program.process.returncode, 0)

    @unittest.skipUnless(ctypes.util.find_library("evdev"), "needs libevdev2")
    def test_libevdev_takes_it_for_a_device(self):
        self.button(0, SOUTH, 1)
        program = self.reader("libevdev")
        self.expect(program, "svc stream gamepad 1 has 1 0 1 1 0 0", "down 1", "clock 0 grab 0 0")
        self.button(0, SOUTH, 0)
        self.expect(program, "event 1 304 0", "event 0 0 0")
        self.player.end()
        self.expect(program, "end ENODEV", None)

    @unittest.skipUnless(ctypes.util.find_library("evdev"), "needs libevdev2")
    def test_libevdev_makes_up_for_lost_events(self):
        self.button(0, EAST, 1)
        program = self.reader("lost")
        self.expect(program, "ready")
        for value in [1, 0] * 500 + [1]:
            self.button(0, SOUTH, value)
        self.button(0, EAST, 0)
        program.tell("read")
        self.expect(program, "after the loss 1 0", None)

    @unittest.skipUnless(ctypes.util.find_library("SDL2-2.0"), "needs libsdl2-2.0-0")
    def test_sdl_follows_two_gamepads_and_a_new_streamer(self):
        program = self.reader("sdl")
        self.expect(program, "ready 0")
        self.button(0, SOUTH, 1)
        self.expect(program, "added svc stream gamepad 1 True")
        self.button(0, EAST, 1)
        self.assertIn("button 0 1 1", [program.line(), program.line()])  # and what was pressed before
        self.button(1, SOUTH, 1)
        self.expect(program, "added svc stream gamepad 2 True")
        self.button(1, EAST, 1)
        self.assertIn("button 1 1 1", [program.line(), program.line()])
        self.player.process.kill()
        self.player.process.wait()
        self.player = self.start(PLAYER, FOLDER)
        self.lines_until(program, "removed 1")
        self.button(0, SOUTH, 1)
        self.lines_until(program, "added svc stream gamepad 1 True")

    def lines_until(self, program, line):
        while (said := program.line()) != line:
            self.assertIsNotNone(said)

    @unittest.skipUnless(ctypes.util.find_library("SDL2-2.0"), "needs libsdl2-2.0-0")
    def test_sdl_knows_the_layout_of_the_gamepad(self):
        self.play("axis", 0, 4, -1)  # at rest
        program = self.reader("sdl-controller")
        self.expect(program, "ready 1", "added svc stream gamepad 1 True")
        for index, name in {0: 0, 1: 1, 2: 2, 3: 3, 4: 9, 5: 10, 8: 4, 9: 6, 16: 5, 12: 11, 15: 14}.items():
            self.button(0, index, 1)
            self.lines_until(program, f"button 0 {name} 1")
            self.button(0, index, 0)
            self.lines_until(program, f"button 0 {name} 0")
        self.button(0, 7, 1)
        self.lines_until(program, "axis 0 5 32767")
        self.play("axis", 0, 4, 1)
        self.lines_until(program, "axis 0 4 32767")


def make_own_dev():
    """A /dev that nobody else sees, without devices of input."""
    place = tempfile.mkdtemp(prefix="pads-dev-")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    for name in ("null", "zero", "urandom"):
        pathlib.Path(place, name).touch()
        subprocess.run(["mount", "--bind", f"/dev/{name}", f"{place}/{name}"], check=True)
    subprocess.run(["mount", "--rbind", place, "/dev"], check=True)
    subprocess.run(["umount", "-R", place], check=True)
    os.rmdir(place)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        if os.geteuid() != 0:
            print('skipped "preload_test": needs root: a /dev of its own', file=sys.stderr)
            sys.exit(cases.ALL_SKIPPED)
        os.environ.update(PADS_LIBRARY=sys.argv[1], PADS_PLAYER=sys.argv[2])
        os.execvp("unshare", ["unshare", "-m", "--", sys.executable, __file__])
    make_own_dev()
    cases.main()

#!/usr/bin/env python3
"""Programs of a guest that play with gamepads, to be run with the preloaded library: what they see is their output, a fact a
line. They end when their input does, or when the gamepad has gone.

usage: pad_reader.py plain|libevdev|lost|sdl|sdl-controller"""
import ctypes
import errno
import fcntl
import os
import select
import stat
import struct
import sys

EVENT = struct.Struct("llHHi")
FOLDER = "/dev/input"


def say(*words):
    print(*words, flush=True)


def ask(fd, number, size):
    """ioctl() that reads `size` bytes: what it returns, and the bytes."""
    room = bytearray(size)
    return fcntl.ioctl(fd, 2 << 30 | size << 16 | ord("E") << 8 | number, room), bytes(room)


def events():
    return sorted(name for name in os.listdir(FOLDER) if name.startswith("event"))


def describe(path):
    status = os.stat(path)
    say(path, "is a device" if stat.S_ISCHR(status.st_mode) else "is something else", os.major(status.st_rdev),
        os.minor(status.st_rdev))


def plain():
    """open(), ioctl(), epoll, read()."""
    for name in events():
        describe(f"{FOLDER}/{name}")
    fd = os.open(f"{FOLDER}/event0", os.O_RDONLY | os.O_NONBLOCK)
    size, name = ask(fd, 0x06, 256)
    say("name", name[:size].rstrip(b"\0").decode())
    say("id", *struct.unpack("HHHH", ask(fd, 0x02, 8)[1]))
    say("stick", *struct.unpack("iiiiii", ask(fd, 0x40, 24)[1]))
    size, down = ask(fd, 0x18, 96)
    say("down", size, [code for code in range(768) if down[code // 8] >> code % 8 & 1])
    folder = os.open(FOLDER, os.O_RDONLY)
    os.close(os.open("event0", os.O_RDONLY, dir_fd=folder))
    try:
        os.read(fd, EVENT.size)
    except BlockingIOError:
        say("nothing to read")
    poll = select.epoll()
    poll.register(fd, select.EPOLLIN)
    copy = os.dup(fd)
    while poll.poll():
        try:
            text = os.read(copy, 64 * EVENT.size)
        except OSError as error:
            return say("read", errno.errorcode[error.errno])
        for _, _, kind, code, value in EVENT.iter_unpack(text):
            say("event", kind, code, value)


class EvdevEvent(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long), ("type", ctypes.c_uint16),
                ("code", ctypes.c_uint16), ("value", ctypes.c_int32)]


SYNC, NORMAL, BLOCKING = 1, 2, 8
GRAB, UNGRAB = 3, 4


def open_libevdev(fd):
    evdev, device = ctypes.CDLL("libevdev.so.2"), ctypes.c_void_p()
    evdev.libevdev_get_name.restype = ctypes.c_char_p
    if evdev.libevdev_new_from_fd(fd, ctypes.byref(device)) != 0:
        sys.exit("libevdev takes it for no device")
    return evdev, device


def libevdev():
    fd = os.open(f"{FOLDER}/event0", os.O_RDONLY)
    evdev, device = open_libevdev(fd)
    say(evdev.libevdev_get_name(device).decode(), "has", *(
        evdev.libevdev_has_event_code(device, kind, code) for kind, code in ((1, 304), (1, 30), (3, 0), (3, 3), (3, 6), (21, 80))))
    say("down", evdev.libevdev_get_event_value(device, 1, 304))
    say("clock", evdev.libevdev_set_clock_id(device, 1), "grab", evdev.libevdev_grab(device, GRAB),
        evdev.libevdev_grab(device, UNGRAB))
    event = EvdevEvent()
    while True:
        result = evdev.libevdev_next_event(device, NORMAL | BLOCKING, ctypes.byref(event))
        if result < 0:
            return say("end", errno.errorcode[-result])
        say("event", event.type, event.code, event.value)


def lost():
    """Reads nothing until a line comes; then makes up for what it has lost."""
    fd = os.open(f"{FOLDER}/event0", os.O_RDONLY | os.O_NONBLOCK)
    evdev, device = open_libevdev(fd)
    say("ready")
    sys.stdin.readline()
    event, modes = EvdevEvent(), NORMAL
    while modes == SYNC or select.select([fd], [], [], 60)[0]:
        result = evdev.libevdev_next_event(device, modes, ctypes.byref(event))
        if result == 1:
            modes = SYNC
        elif result == -errno.EAGAIN and modes == SYNC:
            return say("after the loss", *(evdev.libevdev_get_event_value(device, 1, code) for code in (304, 305)))


class SdlEvent(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("time", ctypes.c_uint32), ("which", ctypes.c_int32), ("index", ctypes.c_uint8),
                ("state", ctypes.c_uint8), ("padding", ctypes.c_uint8 * 2), ("value", ctypes.c_int16), ("rest", ctypes.c_uint8 * 42)]


def sdl(subsystem, names, opening):
    library, event = ctypes.CDLL("libSDL2-2.0.so.0"), SdlEvent()
    opener = getattr(library, opening)
    opener.restype = ctypes.c_void_p
    library.SDL_JoystickNameForIndex.restype = ctypes.c_char_p
    if library.SDL_Init(subsystem) != 0:
        sys.exit("SDL does not start")
    say("ready", library.SDL_NumJoysticks())
    while not select.select([0], [], [], 0)[0]:
        if library.SDL_WaitEventTimeout(ctypes.byref(event), 50) == 0 or event.type not in names:
            continue
        name = names[event.type]
        if name == "added":
            say("added", library.SDL_JoystickNameForIndex(event.which).decode(), opener(event.which) is not None)
        elif name == "removed":
            say("removed", event.which)
        else:
            say(name, event.which, event.index, event.value if name == "axis" else event.state)


PROGRAMS = {
    "plain": plain,
    "libevdev": libevdev,
    "lost": lost,
    "sdl": lambda: sdl(0x200, {0x600: "axis", 0x603: "button", 0x604: "button", 0x605: "added", 0x606: "removed"},
                       "SDL_JoystickOpen"),
    "sdl-controller": lambda: sdl(0x2000, {0x650: "axis", 0x651: "button", 0x652: "button", 0x653: "added", 0x654: "removed"},
                                  "SDL_GameControllerOpen"),
}
PROGRAMS[sys.argv[1]]()

#!/usr/bin/env python3
"""libsvcgamepad is loaded into programs of any guest: it needs the C library alone, and of that what the oldest versions have,
as a program of the guest would not start otherwise. Of its own it shows what it stands before, and nothing else.

usage: gamepad_library.py LIBRARY"""
import re
import subprocess
import sys

CALLS = {"open", "open64", "openat", "openat64", "__open_2", "__open64_2", "__openat_2", "__openat64_2", "ioctl", "read", "__read_chk",
         "stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "fstatat", "fstatat64", "__xstat", "__xstat64", "__lxstat",
         "__lxstat64", "__fxstat", "__fxstat64"}
LIBRARIES = {"libc.so.6", "libdl.so.2"}
VERSIONS = {"GLIBC_2.2.5", "GLIBC_2.14", "GLIBC_2.17"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def faults(library):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", library)))
    yield from (f"it needs {name}" for name in sorted(needed - LIBRARIES))
    versions = set(re.findall(r"Name: (\S+)", output("readelf", "-VW", library)))
    yield from (f"it needs {version}" for version in sorted(versions - VERSIONS))
    shown = {line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    yield from (f"it shows {name}" for name in sorted(shown - CALLS))
    yield from (f"it lacks {name}" for name in sorted(CALLS - shown))


found = list(faults(sys.argv[1]))
print("\n".join(found) or "libsvcgamepad runs in any guest")
sys.exit(1 if found else 0)

#!/usr/bin/env python3
"""Links svc-agent once more, and takes nothing the linker says: a static program that calls what loads shared libraries at run
time (name services, modules) works with the C library it was linked with, which a guest does not have. What is thread_local is
small: each of the agent's threads, in each instance, has a copy that the C library fills.

usage: agent_link.py BUILD_FOLDER"""
import pathlib
import struct
import subprocess
import sys
import tempfile

PROGRAM = "instance-agent/svc-agent"
MOST_THREAD_LOCAL = 4096  # bytes
TLS_SEGMENT = 7


def thread_local_bytes(program):
    """The size in memory of the segment that each thread has a copy of (ELF, 64 bits)."""
    data = program.read_bytes()
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQ", data, start + number * size) for number in range(count)]
    return sum(segment[6] for segment in segments if segment[0] == TLS_SEGMENT)


def main(build):
    asked = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", PROGRAM], capture_output=True, text=True, check=True)
    command = asked.stdout.splitlines()[-1]
    assert f"-o {PROGRAM} " in command, command
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "svc-agent"
        linked = subprocess.run(command.replace(f"-o {PROGRAM} ", f"-o {made} "), shell=True, cwd=build, capture_output=True, text=True,
                                check=False)
        said = linked.stdout + linked.stderr
        if linked.returncode != 0 or said or not made.exists():
            sys.exit(f"the link of svc-agent is not silent:\n{said}")
        if (bytes_of_each := thread_local_bytes(made)) > MOST_THREAD_LOCAL:
            sys.exit(f"each thread of svc-agent has {bytes_of_each} bytes of its own, more than {MOST_THREAD_LOCAL}")


main(*sys.argv[1:])

#!/usr/bin/env python3
"""Links svc-agent once more, and takes nothing the linker says: a static program that calls what loads shared libraries at run
time (name services, modules) works with the C library it was linked with, which a guest does not have.

usage: agent_link.py BUILD_FOLDER"""
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = "instance-agent/svc-agent"


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


main(*sys.argv[1:])

"""The commands of docs/cluster.md, and the machines they are typed on: those of the rig, without anything of a cluster.

A fenced block of `sh` names after that word where it is typed: machines (m1), `all` (m1 m2 m3, one after the other), `client` (the machine that runs
the tests). What differs from the manual is this:

* 10.0.0. is the network of the rig; `name` and `address` are variables, as the manual asks for;
* svcd and svcctl are those of the build folder;
* systemctl, apt-get and scp are stand-ins (fresh_machine/): the rig's machines have no systemd, the packages of this machine, and disks side by side.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import machines  # noqa: E402
from machines import RIG, harness  # noqa: E402

STAND_INS = pathlib.Path(__file__).resolve().parent / "fresh_machine"
ALL = ["m1", "m2", "m3"]
BLOCK = re.compile(r"^```sh(?P<where>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 300


class Block:
    def __init__(self, chapter, where, text):
        self.chapter, self.text = chapter, text
        self.places = [place for word in where.split() for place in (ALL if word == "all" else [word])]


def blocks(document):
    """All blocks of commands, in order; a chapter is what has a heading."""
    found = []
    for chapter in re.split(r"^## ", document, flags=re.MULTILINE):
        title = chapter.split("\n", 1)[0]
        found += [Block(title, match["where"], match["text"]) for match in BLOCK.finditer(chapter)]
    return found


class FreshMachines:
    """`with FreshMachines(4) as machines`: the manual's machines and its client."""

    def __init__(self, size):
        self.rig = machines.Rig(size, etcd=0)
        self.home = self.rig.dir / "client"

    def __enter__(self):
        try:
            self.rig.up()
            for number in range(1, self.rig.size + 1):
                self.boot(number)
            self.home.mkdir()
            return self
        except BaseException:
            self.rig.down()
            raise

    def __exit__(self, failure, *_):
        if failure:
            print("".join(f"\n-- m{number}{self.logs(number)}" for number in range(1, self.rig.size + 1)), file=sys.stderr)
        left = self.rig.down()
        assert not left, left

    def boot(self, number):
        self.type(f"m{number}", f"{STAND_INS}/disk m{number} {self.disk(number)}")

    def power_fails(self, numbers):
        for number in numbers:
            self.rig.command("kill", number, "all")
        for number in numbers:
            self.rig.command("start", number, "all")
            self.boot(number)

    def disk(self, number):
        return self.rig.dir / str(number) / "disk"

    def type(self, place, text):
        """What the commands printed; they have to succeed, each of them."""
        done = self.run(place, text)
        assert done.returncode == 0, f"on {place}:\n{text}\nstatus {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"
        return done.stdout

    def try_to(self, place, text):
        return self.run(place, text).returncode == 0

    def run(self, place, text):
        client = place == "client"
        number = 0 if client else int(place[1:])
        script = f"unset LXD_DIR\nname={place} address=10.0.0.{10 + number}\nset -euo pipefail\n{text}".replace("10.0.0.", f"{self.rig.net}.0.")
        command = ["bash"] if client else [str(RIG), "exec", str(number), "bash"]
        return subprocess.run(["timeout", str(PATIENCE), *command, "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              cwd=harness.ROOT if client else "/root", env=self.environment(client))

    def environment(self, client):
        programs = [str(STAND_INS), str(harness.BUILD / "server"), str(harness.BUILD / "cli")]
        return {**self.rig.environment, "RIG_DIR": str(self.rig.dir), "FRESH_UNITS": str(harness.BUILD / "server"),
                "PATH": ":".join([*programs, "/usr/sbin:/usr/bin:/sbin:/bin"]), "LANG": "C.UTF-8",
                "HOME": str(self.home) if client else "/root"}

    def logs(self, number):
        files = sorted((self.disk(number) / "var/log").glob("*.log"))
        return "".join(f"\n{file.name}:\n{file.read_text(errors='replace')[-1500:]}" for file in files)

    def follow(self, manual):
        for block in manual:
            for place in block.places:
                self.type(place, block.text)


def missing():
    """Why the manual cannot be followed here; None: it can."""
    wanted = ["nft", "curl", "scp", "dpkg-query"]
    return machines.missing(lxd=True) or next((f"needs {program}" for program in wanted if not shutil.which(program)), None)

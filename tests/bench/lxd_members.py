#!/usr/bin/env python3
"""Launches through three managers over three LXD members, beside `lxc launch` on the same members, in turns: the same LXD, the same image.

usage: lxd_members.py [--rounds 9] [--many 30] [--at-once 8]     (build first; needs root, LXD and etcd)

LXD alone is `lxc launch`, to each member in turn, and with --exec a command inside besides, which is what the guest's report is to svcd:
svcd counts from the request until the operation says that the instance is running.
"""
import argparse
import concurrent.futures
import itertools
import os
import statistics
import subprocess

import results
from cluster_peers import ThreeMachines, harness
from launch import timed

COMMAND = "tests/bench/lxd_members.py"
ONE_BY_ONE, TOGETHER = 1.1, 1.0  # the marks


class LxdAlone:
    name = "LXD alone"

    def __init__(self, rig, execute):
        self.members = [(machine["member"], f"{machine['folder']}/lxd") for machine in rig.cluster["machines"]]
        self.execute, self.numbers = execute, itertools.count()
        for machine in rig.cluster["machines"]:
            for words in (["add", "benchbr", "type", "bridge"], ["set", "benchbr", "up"]):
                with rig.popen(machine["number"], "ip", "link", *words) as ip:
                    assert ip.wait() == 0, words
        self.lxc(0, "image", "import", harness.busybox_image(), "--alias", "bench")
        self.lxc(0, "profile", "create", "bench")
        self.lxc(0, "profile", "device", "add", "bench", "eth0", "nic", "nictype=bridged", "parent=benchbr", "name=eth0")
        self.lxc(0, "profile", "device", "add", "bench", "root", "disk", "path=/", "pool=svc")

    def lxc(self, member, *words):
        done = subprocess.run(["lxc", *map(str, words)], env={**os.environ, "LXD_DIR": self.members[member][1]}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)
        assert done.returncode == 0, f"lxc {words}: {done.stderr}"

    def start(self):
        number = next(self.numbers)
        member, name = number % len(self.members), f"alone{number}"
        self.lxc(member, "launch", "bench", name, "--target", self.members[member][0], "-p", "bench", "-c", "security.idmap.isolated=true",
                 "-c", "boot.autostart=false", "-c", f"security.idmap.base={165536 + number % 100 * 65536}", "-c", "limits.memory=512MiB")
        if self.execute:
            self.lxc(member, "exec", name, "--", "true")
        return member, name

    def remove(self, started):
        member, name = started
        self.lxc(member, "delete", "--force", name)


def one_by_one(sides, rounds):
    took = {side: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            handle, milliseconds = timed(side.start)
            took[side].append(milliseconds)
            side.remove(handle)
    return [statistics.median(took[side]) for side in sides]


def together(sides, many, at_once):
    took = []
    for side in sides:
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            handles, milliseconds = timed(lambda s=side, p=pool: list(p.map(lambda _: s.start(), range(many))))
            list(pool.map(side.remove, handles))
        took.append(milliseconds / many)
    return took


def report(what, figures, mark, execute):
    ours, theirs = figures
    peer = "lxc launch" + (" and lxc exec" if execute else "")
    results.report(f"{what} through three managers on LXD, against {peer}", ours, theirs, unit="ms", peer=peer, mark=f"{mark} x",
                   met=ours <= mark * theirs, command=COMMAND)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--many", type=int, default=30)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--exec", action="store_true", dest="execute")
    options = parser.parse_args()
    managers = ThreeMachines("lxd")
    try:
        sides = [managers, LxdAlone(managers.rig, options.execute)]
        report(f"Launch one by one (median of {options.rounds})", one_by_one(sides, options.rounds), ONE_BY_ONE, options.execute)
        report(f"Launch of {options.many}, {options.at_once} at a time, each,", together(sides, options.many, options.at_once), TOGETHER,
               options.execute)
    finally:
        managers.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Launches through svcd --runtime lxd beside launches by LXD alone, in turns: the same LXD, the same image.

    SVC_BUILD_DIR=build tests/support/lxd_machine tests/bench/lxd.py [--rounds 5] [--many 30] [--at-once 8]

Prints the seconds of each and their ratio. LXD alone counts from `POST /1.0/instances` until a command has run inside,
svcd until the operation says that the instance is running."""
import argparse
import concurrent.futures
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness


def lxc(*words):
    subprocess.run(["lxc", *words], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)


class LxdAlone:
    """Instances with a network device and an id range of their own, as svcd's have."""

    def __init__(self):
        lxc("image", "import", str(harness.busybox_image()), "--alias", "bench")
        subprocess.run(["ip", "link", "add", "benchbr", "type", "bridge"], check=True)
        subprocess.run(["ip", "link", "set", "benchbr", "up"], check=True)

    def launch(self, number):
        name = f"alone{number}"
        lxc("init", "bench", name, "-c", "security.idmap.isolated=true", "-c", "boot.autostart=false",
            "-c", f"security.idmap.base={165536 + number * 65536}", "-c", "limits.memory=512MiB")
        lxc("config", "device", "add", name, "eth0", "nic", "nictype=bridged", "parent=benchbr", "name=eth0")
        lxc("start", name)
        lxc("exec", name, "--", "true")
        return name

    def remove(self, name):
        lxc("delete", "--force", name)


class Service:
    def __init__(self):
        self.daemon = harness.Daemon("lxd", cpu_allocation_rate=100, memory_allocation_rate=100).start()
        self.daemon.add_image()

    def launch(self, _):
        return self.daemon.launch()

    def remove(self, id):
        self.daemon.remove(f"/1.0/containers/{id}")

    def close(self):
        assert not self.daemon.close()


def timed(work):
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


def one_by_one(sides, rounds):
    seconds = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides:
            took, name = timed(lambda: side.launch(number))  # pylint: disable=cell-var-from-loop
            side.remove(name)
            seconds[side].append(took)
    return [statistics.median(seconds[side]) for side in sides]


def together(side, many, at_once):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        took, names = timed(lambda: list(pool.map(side.launch, range(100, 100 + many))))
        list(pool.map(side.remove, names))
    return took


def show(what, service, alone):
    print(f"{what:<24} svcd {service:7.3f} s   LXD {alone:7.3f} s   ratio {service / alone:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--many", type=int, default=30)
    parser.add_argument("--at-once", type=int, default=8)
    options = parser.parse_args()
    if "SVC_LXD_SOCKET" not in os.environ:
        sys.exit("run it with tests/support/lxd_machine")
    service, alone = Service(), LxdAlone()
    try:
        show("one by one, median", *one_by_one([service, alone], options.rounds))
        if options.many:
            show(f"{options.many}, {options.at_once} at once", *[
                together(side, options.many, options.at_once) for side in (service, alone)])
    finally:
        service.close()


if __name__ == "__main__":
    main()

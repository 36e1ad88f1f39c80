#!/usr/bin/env python3
"""From an application's package to its version that is ready, against the time of its hooks alone, in turns.

usage: bootstrap.py [busybox debian] [--rounds 10]     (build first; needs root. debian makes an image once, which takes minutes)

The hooks' own time is that of the same script in a running instance of the same image, by exec, less that of `true`.
"""
import argparse
import statistics

import results
from launch import timed
from peers import Svcd, harness

COMMAND = "tests/bench/bootstrap.py"
MARK, ALLOWANCE = 1.2, 100  # times the hooks, and milliseconds
HOOK = "#!/bin/sh\ni=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/srv/installed bs=64k count=64 2>/dev/null\n"


def images(names):
    makers = {"busybox": harness.busybox_image, "debian": harness.debian_image}
    return {name: makers[name]() for name in names}


def bootstrap(svcd, image):
    files = {"manifest.yaml": f"name: bench\nimage: {image}\ninstance-type: a2.3\n", "hooks/install": HOOK}
    id, taken = timed(svcd.daemon.create_app, files)
    svcd.daemon.remove(f"/1.0/applications/{id}")
    return taken


def hooks(svcd, id):
    script = timed(svcd.daemon.execute, id, "sh", "-c", HOOK)[1]
    return script - timed(svcd.daemon.execute, id, "true")[1]


def measure(svcd, name, package, rounds):
    svcd.daemon.add_image(name, package)
    running = svcd.daemon.launch(name)
    whole, own = [], []
    for turn in range(rounds + 1):
        values = bootstrap(svcd, name), hooks(svcd, running)
        if turn:
            whole.append(values[0])
            own.append(values[1])
    return statistics.median(whole), statistics.median(own)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["busybox", "debian", []])
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    svcd = Svcd()
    try:
        for name, package in images(options.what or ["busybox", "debian"]).items():
            whole, own = measure(svcd, name, package, options.rounds)
            results.report(f"Bootstrap of an application, {name}", whole, own, unit="ms", peer="its hooks alone",
                           mark=f"{MARK} x and {ALLOWANCE} ms", met=whole <= MARK * own + ALLOWANCE, command=f"{COMMAND} {name}")
    finally:
        svcd.close()


if __name__ == "__main__":
    main()

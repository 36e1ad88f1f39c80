#!/usr/bin/env python3
"""Launch and delete through three managers on three machines, against one machine with SQLite, in turns in one run.

usage: cluster_launch.py [--count N] [--at-once N]     (build first; needs root)

A launch counts from the request until the operation has ended. Processor time is that of the machines with everything that runs
on them, etcd and the instances, too, without what they use when nobody asks for anything. Where all machines share the cores of one
computer, it tells more than the clock of launches that go on at once.
"""
import argparse
import concurrent.futures
import statistics
import time

import results
from cluster_peers import OneMachine, ThreeMachines
from launch import timed

COMMAND = "tests/bench/cluster_launch.py"
TIME, PROCESSOR = 1.5, 1.3  # the marks
REST = 5  # seconds for what they use by themselves
BLOCK = 10


class Account:
    """The processor seconds of one side over its turns: what they use at rest is not counted."""

    def __init__(self, side):
        self.side, self.at_rest = side, (0, 0)
        self.begin()
        time.sleep(REST)
        self.at_rest = [used / REST for used in self.used()]

    def begin(self):
        self.start, self.clock = self.now(), time.monotonic()

    def now(self):
        """In all, and of etcd."""
        return self.side.processor_seconds(), self.side.processor_seconds("etcd")

    def used(self):
        passed = time.monotonic() - self.clock
        return [now - then - rest * passed for now, then, rest in zip(self.now(), self.start, self.at_rest)]

    def milliseconds(self, count):
        return [used * 1000 / count for used in self.used()]


def in_turns(sides, accounts, count, work):
    """Medians of the milliseconds that each took, and the processor milliseconds of each, by side. `work` gets the side."""
    took = {side: [] for side in sides}
    for account in accounts.values():
        account.begin()
    for _ in range(0, count, BLOCK):
        for side in sides:
            took[side] += [timed(work, side)[1] for _ in range(min(BLOCK, count - len(took[side])))]
    time.sleep(1)  # what goes on behind the last answers
    return {side: (statistics.median(took[side]), *accounts[side].milliseconds(count)) for side in sides}


def together(sides, accounts, count, at_once, work):
    """The same; of `count` in all, `at_once` at a time: the milliseconds of all by their number."""
    took = {side: 0 for side in sides}
    for account in accounts.values():
        account.begin()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for side in sides:
            took[side] = timed(lambda s=side: list(pool.map(lambda _: work(s), range(count))))[1]
    time.sleep(1)
    return {side: (took[side] / count, *accounts[side].milliseconds(count)) for side in sides}


def report(what, found, mark):
    (ours, our_time, etcd), (theirs, their_time, _) = found.values()
    results.report(what, ours, theirs, unit="ms", peer=OneMachine.name, mark=f"{mark} x" if mark else "",
                   met=ours <= mark * theirs if mark else None, command=COMMAND)
    results.report(f"{what}: processor time each", our_time, their_time, unit="ms", peer=OneMachine.name, note=f"{max(etcd, 0):.1f} of them etcd's",
                   mark=f"{PROCESSOR} x", met=our_time <= PROCESSOR * their_time, command=COMMAND)


def measure(sides, options):
    accounts = {side: Account(side) for side in sides}
    started = {side: [] for side in sides}

    def launch(side):
        started[side].append(side.start())

    def remove(side):
        side.remove(started[side].pop())

    count, how = options.count, f"by three managers, one by one (median of {options.count})"
    report(f"Launch {how}", in_turns(sides, accounts, count, launch), TIME)
    report(f"Delete {how}", in_turns(sides, accounts, count, remove), None)
    how = f"by three managers, {options.many} of them {options.at_once} at a time, each"
    report(f"Launch {how}", together(sides, accounts, options.many, options.at_once, launch), None)
    report(f"Delete {how}", together(sides, accounts, options.many, options.at_once, remove), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--many", type=int, default=30)
    parser.add_argument("--at-once", type=int, default=8)
    options = parser.parse_args()
    sides = []
    try:
        for make in (ThreeMachines, OneMachine):
            sides.append(make())
        measure(sides, options)
    finally:
        for side in sides:
            side.close()


if __name__ == "__main__":
    main()

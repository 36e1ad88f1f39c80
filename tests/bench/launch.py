#!/usr/bin/env python3
"""Launch and delete: svcd against bare lxc-start, itself with the other launcher, LXD and podman, in turns in one run, of the same image.

usage: launch.py [--count N] [--at-once N] [--pause MS] [--peers bare,liblxc,lxd,podman] [--build FOLDER]     (build first; needs root)

A launch of svcd counts from the request until the operation has ended, which is when the agent inside has reported. That of
the others ends when the container's init runs. Everything launched stays until all are there.
Processor time is that of the whole machine: nothing else should run. With --pause each launch one by one comes that long after the
last one: the kernel's grace periods, which launches in a row share, count then.
"""
import argparse
import concurrent.futures
import os
import pathlib
import statistics
import time

import results
from other_peers import Lxd, Podman
from peers import BareLxc, Liblxc, OtherBuild, Svcd

PROCESSOR_MARK = 9  # milliseconds of a launch among many
MARKS = {"bare lxc-start": (0.6, 1.3), "LXD": (0.15, 0.15)}  # of launch, of deletion


def timed(work, *arguments):
    begin = time.monotonic()
    result = work(*arguments)
    return result, (time.monotonic() - begin) * 1000


def processor_time():
    """Milliseconds that the machine's processors have worked."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(ticks[:3]) + sum(ticks[5:8])) * 1000 / os.sysconf("SC_CLK_TCK")


def one_by_one(peers, count, pause):
    """Medians of launch and of deletion, by peer."""
    started = {peer: [] for peer in peers}
    launches, deletions = {peer: [] for peer in peers}, {peer: [] for peer in peers}
    try:
        for _ in range(count):
            for peer in peers:
                time.sleep(pause)
                handle, took = timed(peer.start)
                started[peer].append(handle)
                launches[peer].append(took)
        for _ in range(count):
            for peer in peers:
                deletions[peer].append(timed(peer.remove, started[peer].pop())[1])
    finally:
        remove_all(started)
    return {peer: (statistics.median(launches[peer]), statistics.median(deletions[peer])) for peer in peers}


def at_once(peers, count, width, rounds=2):
    """The time each took, of `count` in all, `width` at a time, by peer: of launches, of deletions, of processors for launches."""
    started, totals = {peer: [] for peer in peers}, {peer: [0, 0, 0] for peer in peers}
    share = count // rounds
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        def all_of(work, items):
            return list(pool.map(work, items))
        try:
            for _ in range(rounds):
                for peer in peers:
                    worked = processor_time()
                    handles, took = timed(all_of, lambda _: peer.start(), range(share))
                    started[peer] += handles
                    totals[peer][0] += took
                    totals[peer][2] += processor_time() - worked
            for _ in range(rounds):
                for peer in peers:
                    batch = [started[peer].pop() for _ in range(share)]
                    totals[peer][1] += timed(all_of, peer.remove, batch)[1]
        finally:
            remove_all(started)
    return {peer: [total / (share * rounds) for total in times] for peer, times in totals.items()}


def remove_all(started):
    """Only after a failure is anything left; whoever closes finds the rest."""
    for peer, handles in started.items():
        for handle in handles:
            try:
                peer.remove(handle)
            except RuntimeError as error:
                print(f"{peer.name}: {error}")


def report(times, how, command):
    ours = next(peer for peer in times if peer.name == Svcd.name)
    for peer in times:
        if peer is ours:
            continue
        for index, verb in enumerate(("Launch", "Delete")):
            most = MARKS.get(peer.name, (None, None))[index]
            mine, theirs = times[ours][index], times[peer][index]
            results.report(f"{verb} {how}, against {peer.name}", mine, theirs, unit="ms", peer=peer.name,
                           mark=f"{most} x" if most else "", met=mine <= most * theirs if most else None, command=command)
        if len(times[ours]) > 2:
            results.report(f"Launch {how}, processor time, against {peer.name}", times[ours][2], times[peer][2], unit="ms", peer=peer.name,
                           mark=f"{PROCESSOR_MARK} ms", met=times[ours][2] <= PROCESSOR_MARK, command=command)


def peers_of(names, build, svcd):
    """Those that run here; tells why of the others."""
    makers = {"bare": lambda: BareLxc(svcd), "liblxc": Liblxc, "lxd": Lxd, "podman": Podman}
    peers = [svcd] + ([OtherBuild(build=build)] if build else [])
    for name in filter(None, names):
        try:
            peers.append(makers[name]())
        except LookupError as reason:
            print(f"skipped {name}: {reason}", flush=True)
    return peers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--pause", type=int, default=0, metavar="MS")
    parser.add_argument("--peers", default="bare,liblxc,lxd,podman", help="of these, separated by commas")
    parser.add_argument("--build", type=pathlib.Path, help="also the svcd of this build folder")
    options = parser.parse_args()
    command = "tests/bench/launch.py" + (f" --count {options.count}" if options.count != 100 else "") + \
        (f" --pause {options.pause}" if options.pause else "")
    svcd = Svcd()
    peers = [svcd]
    try:
        peers = peers_of(options.peers.split(","), options.build, svcd)
        apart = f", {options.pause} ms apart" if options.pause else ""
        report(one_by_one(peers, options.count, options.pause / 1000), f"one by one{apart} (median of {options.count})", command)
        if options.pause:
            return
        report(at_once(peers, options.count, options.at_once),
               f"of {options.count}, {options.at_once} at a time, each", command)
    finally:
        for peer in reversed(peers):
            peer.close()


if __name__ == "__main__":
    main()

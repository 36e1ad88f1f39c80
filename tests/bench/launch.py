#!/usr/bin/env python3
"""Launch and delete: svcd against bare lxc-start, itself with the other launcher, LXD and podman, in turns in one run, of the same image.

usage: launch.py [--count N] [--at-once N] [--peers bare,own,lxd,podman] [--build FOLDER]     (build first; needs root)

A launch of svcd counts from the request until the operation has ended, which is when the agent inside has reported. That of
the others ends when the container's init runs. Everything launched stays until all are there.
"""
import argparse
import concurrent.futures
import pathlib
import statistics
import time

import results
from other_peers import Lxd, Podman
from peers import BareLxc, OtherBuild, OwnLauncher, Svcd

MARKS = {"bare lxc-start": 1.3, "LXD": 0.15}


def timed(work, *arguments):
    begin = time.monotonic()
    result = work(*arguments)
    return result, (time.monotonic() - begin) * 1000


def one_by_one(peers, count):
    """Medians of launch and of deletion, by peer."""
    started = {peer: [] for peer in peers}
    launches, deletions = {peer: [] for peer in peers}, {peer: [] for peer in peers}
    try:
        for _ in range(count):
            for peer in peers:
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
    """The time each took, of `count` in all, `width` at a time, by peer."""
    started, totals = {peer: [] for peer in peers}, {peer: [0, 0] for peer in peers}
    share = count // rounds
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        def all_of(work, items):
            return list(pool.map(work, items))
        try:
            for _ in range(rounds):
                for peer in peers:
                    handles, took = timed(all_of, lambda _: peer.start(), range(share))
                    started[peer] += handles
                    totals[peer][0] += took
            for _ in range(rounds):
                for peer in peers:
                    batch = [started[peer].pop() for _ in range(share)]
                    totals[peer][1] += timed(all_of, peer.remove, batch)[1]
        finally:
            remove_all(started)
    return {peer: (launch / (share * rounds), deletion / (share * rounds)) for peer, (launch, deletion) in totals.items()}


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
        most = MARKS.get(peer.name)
        for index, verb in enumerate(("Launch", "Delete")):
            mine, theirs = times[ours][index], times[peer][index]
            results.report(f"{verb} {how}, against {peer.name}", mine, theirs, unit="ms", peer=peer.name,
                           mark=f"{most} x" if most else "", met=mine <= most * theirs if most else None, command=command)


def peers_of(names, build, svcd):
    """Those that run here; tells why of the others."""
    makers = {"bare": lambda: BareLxc(svcd), "own": OwnLauncher, "lxd": Lxd, "podman": Podman}
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
    parser.add_argument("--peers", default="bare,own,lxd,podman", help="of these, separated by commas")
    parser.add_argument("--build", type=pathlib.Path, help="also the svcd of this build folder")
    options = parser.parse_args()
    command = "tests/bench/launch.py" + (f" --count {options.count}" if options.count != 100 else "")
    svcd = Svcd()
    peers = [svcd]
    try:
        peers = peers_of(options.peers.split(","), options.build, svcd)
        report(one_by_one(peers, options.count), f"one by one (median of {options.count})", command)
        report(at_once(peers, options.count, options.at_once),
               f"of {options.count}, {options.at_once} at a time, each", command)
    finally:
        for peer in reversed(peers):
            peer.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Commands in instances: the round trip of `true`, and how fast output comes, in turns with lxc-attach, LXD and a pipe.

usage: execute.py [true output] [--rounds 50] [--megabytes 1024] [--peers bare,lxd]     (build first; needs root)

true: svcctl exec, the raw API (the request, three WebSockets, the wait; no program is started), lxc-attach and `lxc exec` each run
`true` in a running container of the same image. output: `dd` of zeros, 64 KiB at a time, in an
instance through svcctl and the raw API, and on the machine through a pipe.
"""
import argparse
import statistics
import subprocess

import results
from launch import peers_of, timed
from peers import Svcd
from plain_socket import PlainSocket

COMMAND = "tests/bench/execute.py"
MARKS = {"lxc-attach": 1.3, "lxc exec of LXD": 0.3}
PIPE_MARK = 0.7  # of its throughput
QUIET = {"stdin": subprocess.DEVNULL, "check": True}


def execute(svcd, id, *command):
    """By the API alone. Takes the output as it comes and returns how many bytes there were."""
    answer = svcd.api.request("POST", f"/1.0/containers/{id}/exec", {"command": list(command), "interactive": False})
    operation, secrets = answer["metadata"]["id"], answer["metadata"]["metadata"]["fds"]
    streams = {name: PlainSocket(svcd.daemon.socket, f"/1.0/operations/{operation}/websocket?secret={secrets[name]}") for name in "012"}
    taken = drain(streams["1"])
    drain(streams["2"])
    record = svcd.api.request("GET", f"/1.0/operations/{operation}/wait?timeout=120")["metadata"]
    assert record["metadata"]["return"] == 0, record
    for stream in streams.values():
        stream.close()
    return taken


def drain(stream):
    return sum(map(len, iter(stream.receive, None)))


def by_svcctl(svcd, id, *command):
    subprocess.run([svcd.build / "cli/svcctl", "--socket", svcd.daemon.socket, "exec", id, "--", *command], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **QUIET)


def runners(svcd, id, started):
    """Name -> what runs `true` once. `started`: what each peer has started."""
    ways = {"svcctl exec": lambda: by_svcctl(svcd, id, "true"), "the API": lambda: execute(svcd, id, "true")}
    for peer, handle in started.items():
        command, environment = peer.enter(handle)
        ways[peer.entered_by] = lambda command=command, environment=environment: subprocess.run(
            [*command, "true"], env=environment, stdout=subprocess.DEVNULL, **QUIET)
    return ways


def take_turns(ways, rounds):
    times = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            taken = timed(way)[1]
            if turn:  # the first one of each finds nothing in the caches
                times[name].append(taken)
    return times


def bench_true(svcd, peers, options):
    started = {peer: peer.start() for peer in peers}
    try:
        times = take_turns(runners(svcd, svcd.start(), started), options.rounds)
    finally:
        for peer, handle in started.items():
            peer.remove(handle)
    middle = {name: statistics.median(values) for name, values in times.items()}
    for ours in ("svcctl exec", "the API"):
        for peer in list(middle)[2:]:
            most = MARKS[peer]
            results.report(f"exec of true by {ours}, against {peer}", middle[ours], middle[peer], unit="ms", peer=peer, mark=f"{most} x",
                           met=middle[ours] <= most * middle[peer], command=f"{COMMAND} true")


def pipe(*command):
    source = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    subprocess.run(["cat"], stdin=source.stdout, stdout=subprocess.DEVNULL, check=True)
    source.stdout.close()
    assert source.wait() == 0


def bench_output(svcd, _, options):
    id, words = svcd.start(), ("dd", "if=/dev/zero", "bs=64k", f"count={options.megabytes << 4}")
    ways = {"svcctl exec": lambda: by_svcctl(svcd, id, *words), "the API": lambda: execute(svcd, id, *words), "a pipe": lambda: pipe(*words)}
    times = {name: [] for name in ways}
    for _ in range(5):
        for name, way in ways.items():
            times[name].append(timed(way)[1])
    rate = {name: options.megabytes * 1000 / statistics.median(values) for name, values in times.items()}
    for ours in ("svcctl exec", "the API"):
        results.report(f"{options.megabytes:,} MiB of output of exec by {ours}", rate[ours], rate["a pipe"], unit="MiB/s",
                       peer="`dd | cat`", mark=f"at least {PIPE_MARK} x", met=rate[ours] >= PIPE_MARK * rate["a pipe"],
                       command=f"{COMMAND} output")


BENCHES = {"true": bench_true, "output": bench_output}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*BENCHES, []])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--peers", default="bare,lxd", help="of these, separated by commas")
    options = parser.parse_args()
    peers = [Svcd()]
    try:
        peers = peers_of(options.peers.split(","), None, peers[0])
        for name in options.what or BENCHES:
            BENCHES[name](peers[0], peers[1:], options)
    finally:
        for peer in reversed(peers):
            peer.close()


if __name__ == "__main__":
    main()

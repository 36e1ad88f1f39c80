#!/usr/bin/env python3
"""Placements a second on 1,000 nodes, and how good they are: see scheduler_bench.cpp.

usage: scheduler.py
"""
import json
import os
import pathlib
import subprocess

import results

COMMAND = "tests/bench/scheduler.py"
PROGRAM = pathlib.Path(os.environ.get("SVC_BUILD_DIR", results.ROOT / "build")) / "tests/bench/scheduler-bench"
LEAST = 200_000


def report_speed(line):
    results.report(f"100,000 placements on 1,000 nodes: {line['case']}", line["ours"], line["scan"], unit="/s",
                   peer="a look at every node, same answers", mark="at least 200,000 /s", met=line["ours"] >= LEAST,
                   command=COMMAND)


def report_spread(line):
    """On equal nodes no request should leave two nodes further apart than it is large itself."""
    largest = 8 / 512 / 3 + 3 / 640 / 3 + 6 / 2048 / 3
    results.report("spread: free share of the nodes, standard deviation", line["deviation"] * 100, line["random_deviation"] * 100,
                   unit="%", peer="nodes taken at random", command=COMMAND)
    results.report("spread: free share of the nodes, most less least", line["range"] * 100, line["random_range"] * 100, unit="%",
                   peer="nodes taken at random", mark=f"one large instance: {largest:.2%}", met=line["range"] <= largest,
                   command=COMMAND)


def report_binpack(line):
    results.report("binpack: nodes used for 50,000 instances", line["nodes"], line["least"], unit="nodes",
                   peer=f"the fewest possible; at random {line['random_nodes']}", mark="at most 1.02 x",
                   met=line["nodes"] <= 1.02 * line["least"], command=COMMAND)


def main():
    output = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout
    for text in output.splitlines():
        line = json.loads(text)
        {None: report_speed, "spread": report_spread, "binpack": report_binpack}[line.get("quality")](line)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What limits of 100,000 instances cost in an hour: see expiry_bench.cpp.

usage: expiry.py
"""
import json
import os
import pathlib
import subprocess

import results

COMMAND = "tests/bench/expiry.py"
PROGRAM = pathlib.Path(os.environ.get("SVC_BUILD_DIR", results.ROOT / "build")) / "tests/bench/expiry-bench"


def main():
    line = json.loads(subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout)
    results.report("limits of 100,000 instances, 100 over in an hour: CPU of the hour", line["index"] * 1000, line["scan"] * 1000, unit="ms",
                   peer="a look at every record every 5 s", mark="at most 0.01 x", met=line["index"] <= 0.01 * line["scan"],
                   note=f"and {line['start'] * 1000:.0f} ms at the start", command=COMMAND)


if __name__ == "__main__":
    main()

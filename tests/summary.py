#!/usr/bin/env python3
"""Prints the end of a test run from meson's log: a line for each reason of a skip, then "N passed, N failed, N skipped".

Passed and failed are programs. Skipped are test cases, also those of programs that passed for the rest: each line
`skipped "CASE": REASON` that a program prints is one, and so is a program that is skipped as a whole, `skipped: REASON`."""
import collections
import json
import re
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}
LINE = re.compile(r'^skipped(?: ".*?")?: (\S.*?)\s*$', re.MULTILINE)


def reasons(entry):
    """Why cases of this program were skipped, one text a case."""
    said = LINE.findall((entry.get("stdout") or "") + "\n" + (entry.get("stderr") or ""))
    return said or (["no reason given by " + entry["name"]] if entry["result"] in SKIPPED else [])


def main():
    with open(sys.argv[1], encoding="utf-8") as log:
        entries = [json.loads(line) for line in log]
    skipped = collections.Counter(reason for entry in entries for reason in reasons(entry))
    for reason, count in sorted(skipped.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{count} skipped: {reason}")
    results = [entry["result"] for entry in entries]
    passed = sum(result in PASSED for result in results)
    failed = sum(result not in PASSED | SKIPPED for result in results)
    print(f"{passed} passed, {failed} failed, {sum(skipped.values())} skipped")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""summary.py LOG [AGAIN]: prints the end of a test run from meson's log: a line for each reason of a skip, then "N passed, N failed,
N skipped". AGAIN: the log of a second run of what had failed; its results count, and what passed in it alone is named.
summary.py --failed LOG: prints the names of what failed.

Passed and failed are programs. Skipped are test cases, also those of programs that passed for the rest: each line
`skipped "CASE": REASON` that a program prints is one, and so is a program that is skipped as a whole, `skipped: REASON`."""
import collections
import json
import re
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}
LINE = re.compile(r'^skipped(?: ".*?")?: (\S.*?)\s*$', re.MULTILINE)


def short_name(entry):
    """"unit-base" of "svc:unit / unit-base"."""
    return entry["name"].rsplit(" / ", 1)[-1]


def reasons(entry):
    """Why cases of this program were skipped, one text a case."""
    said = LINE.findall((entry.get("stdout") or "") + "\n" + (entry.get("stderr") or ""))
    return said or (["no reason given by " + short_name(entry)] if entry["result"] in SKIPPED else [])


def read(path):
    """{name: entry}"""
    with open(path, encoding="utf-8") as log:
        return {short_name(entry): entry for entry in map(json.loads, log)}


def failed(entries):
    return [name for name, entry in entries.items() if entry["result"] not in PASSED | SKIPPED]


def main():
    if sys.argv[1] == "--failed":
        sys.stdout.writelines(f"{name}\n" for name in failed(read(sys.argv[2])))
        return
    first, again = (read(path) for path in (sys.argv[1:] + ["/dev/null"])[:2])
    entries = first | again
    skipped = collections.Counter(reason for entry in entries.values() for reason in reasons(entry))
    for reason, count in sorted(skipped.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{count} skipped: {reason}")
    for name in sorted(set(failed(first)) - set(failed(entries))):
        print(f"failed beside other tests, passed alone: {name}")
    passed = sum(entry["result"] in PASSED for entry in entries.values())
    print(f"{passed} passed, {len(failed(entries))} failed, {sum(skipped.values())} skipped")


if __name__ == "__main__":
    main()

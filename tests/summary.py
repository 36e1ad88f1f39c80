#!/usr/bin/env python3
"""Prints the closing line of a test run from meson's log: "N passed, N failed, N skipped"."""
import json
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}

results = [json.loads(line)["result"] for line in open(sys.argv[1])]
passed = sum(r in PASSED for r in results)
skipped = sum(r in SKIPPED for r in results)
print(f"{passed} passed, {len(results) - passed - skipped} failed, {skipped} skipped")

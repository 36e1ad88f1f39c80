#!/usr/bin/env python3
"""docs/coverage.md names a test for each route of docs/api.yaml, and each test it names exists.

That it has the routes of the instance-local control API is the business of a test of the agent, and that it has those
of the stream gateway of a test there.

    coverage.py DOCUMENT_JSON
"""
import json
import pathlib
import re
import sys

from known_tests import ROOT, known_tests

METHODS = ("get", "post", "put", "patch", "delete")
ELSEWHERE = {("GET", "/internal/1.0/metrics")}  # on a listener of its own
OTHERS = {"Instance-local control API", "Stream gateway"}


def table():
    heading = ""
    for line in (ROOT / "docs/coverage.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("|") and cells[1].isupper():
            yield heading, (cells[1], cells[2]), re.findall(r"`([^`]+)`", cells[3])


def main():
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    routes = {(method.upper(), path) for path, item in document["paths"].items() for method in METHODS if method in item}
    tests = known_tests()
    faults, rows = [], set()
    for heading, row, names in table():
        if heading not in OTHERS:
            rows.add(row)
        faults += [f"{row[0]} {row[1]}: there is no test {name}" for name in names if name not in tests]
        if not names:
            faults.append(f"{row[0]} {row[1]}: no test")
    faults += [f"{method} {path} is not in docs/coverage.md" for method, path in sorted(routes - rows)]
    faults += [f"{method} {path} is no route" for method, path in sorted(rows - routes - ELSEWHERE)]
    print("\n".join(faults) or f"{len(rows)} routes have tests")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

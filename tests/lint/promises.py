#!/usr/bin/env python3
"""Each promise of docs/promises.md names tests that hold it, and each test it names exists.

A promise is a row of a table whose first cell is a number."""
import re
import sys

from known_tests import ROOT, known_tests


def promises():
    for line in (ROOT / "docs/promises.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0].isdigit():
            yield int(cells[0]), re.findall(r"`([^`]+)`", cells[-1])


def main():
    tests, faults, numbers = known_tests(), [], []
    for number, names in promises():
        numbers.append(number)
        faults += [f"promise {number}: there is no test {name}" for name in names if name not in tests]
        if not names:
            faults.append(f"promise {number}: no test")
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        faults.append(f"the promises are not numbered from 1 on: {numbers}")
    print("\n".join(faults) or f"{len(numbers)} promises have tests")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

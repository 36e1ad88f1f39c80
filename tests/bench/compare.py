#!/usr/bin/env python3
"""Which figures got worse between two builds: the short form of each, in turns.

usage: compare.py OLD_BUILD NEW_BUILD [--only TEXT] [--pairs N] [--document FILE]     (as root for figures of containers)

Both build folders hold programs of this tree or an earlier one. Prints a table and writes it to --document
(docs/regressions.md; -: nowhere). Exit status 1: at least one figure got worse by more than the noise. paired.py says what that is.
"""
import argparse
import os
import pathlib
import sys
import time

import paired
import results
import short_figures

COLUMNS = ["Figure", "Old", "New", "New / old", "Range", "Verdict"]
HEAD = """# Regressions

Written by `tests/bench/compare.py OLD_BUILD NEW_BUILD`: each figure of both builds in turns, so that the noise of the machine meets both.
"New / old" is the median of the ratios of the pairs, "Range" holds the true one (with all figures together, equal builds are called worse in
5 % of the comparisons). Worse or better: 1 is outside of the range, and the change is at least 5 %.
"""


def turns(figure, sides, pairs):
    """Values of the old and of the new side. Each begins as often as the other, and what is done for the first time is not counted."""
    values = {side: [] for side in sides}
    for turn in range(-1, pairs):
        for side in sides if turn % 2 else reversed(sides):
            value = figure(side)
            if turn >= 0:
                values[side].append(value)
    return [values[side] for side in sides]


def chosen_groups(only):
    """Those that can be measured here, with the figures whose names hold `only`."""
    groups = short_figures.GROUPS if os.geteuid() == 0 else short_figures.GROUPS[:1]
    chosen = [(maker, [row for row in rows if only in row[0]]) for maker, rows in groups]
    return [(maker, rows) for maker, rows in chosen if rows]


def measure(group, builds, pairs, count):
    maker, rows = group
    sides = []
    try:
        for build in builds:
            sides.append(maker(build))
        for name, unit, figure in rows:
            old, new = turns(figure, sides, pairs)
            yield row(name, unit, old, new, paired.compare(old, new, count))
    finally:
        for side in sides:
            side.close()


def row(name, unit, old, new, compared):
    middle = lambda values: results.text_of(sorted(values)[len(values) // 2], unit)
    cells = [name, middle(old), middle(new), f"{compared.ratio:.3f}", f"{compared.low:.3f} to {compared.high:.3f}", compared.verdict]
    print(f"{name:58} {cells[1]:>10} {cells[2]:>10} {cells[3]:>7} ({cells[4]})  {cells[5]}", flush=True)
    return cells


def table(rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [COLUMNS, ["---"] * len(COLUMNS), *rows])


def document(rows, pairs):
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{HEAD}\n{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, {pairs} pairs, load at the end {load}.\n\n{table(rows)}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=lambda text: pathlib.Path(text).resolve(), metavar="BUILD")
    parser.add_argument("--only", default="", help="figures whose names hold this")
    parser.add_argument("--pairs", type=int, help="as few as the statistic needs, unless told otherwise")
    parser.add_argument("--document", default=results.ROOT / "docs/regressions.md")
    options = parser.parse_args()
    groups = chosen_groups(options.only)
    count = sum(len(rows) for _, rows in groups)
    if not count:
        parser.error(f"no figure that can be measured here holds '{options.only}'")
    pairs = options.pairs or paired.pairs_needed(count)
    rows = [cells for group in groups for cells in measure(group, options.builds, pairs, count)]
    if options.document != "-":
        pathlib.Path(options.document).write_text(document(rows, pairs))
    worse = [cells[0] for cells in rows if cells[-1] == "worse"]
    print(f"{len(worse)} of {count} figures got worse" + (": " + "; ".join(worse) if worse else ""))
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()

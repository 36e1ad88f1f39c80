#!/usr/bin/env python3
"""Writes the figures that the benches left into docs/performance.md, between the two markers.

usage: table.py [RESULTS] [--document FILE]     RESULTS: as results.py says. --document -: prints the table instead.
"""
import argparse
import os
import pathlib
import platform
import subprocess
import time

import results

BEGIN, END = "<!-- figures: written by tests/bench/table.py -->", "<!-- end of figures -->"
COLUMNS = ["Figure", "Ours", "Baseline", "Ratio", "Mark", "Command"]


def row(line):
    verdict = {True: ": met", False: ": **missed**", None: ""}[line["met"]]
    command = f"`{line['command']}`" if line["command"] else ""
    ratio = "" if line["ratio"] is None else f"{line['ratio']:g}"
    return [line["figure"], line["ours"], line["baseline"], ratio, (line["mark"] or "none") + verdict, command]


def table(lines):
    rows = [COLUMNS, ["---"] * len(COLUMNS), *map(row, lines)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in rows)


def version(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return "absent"


def machine():
    memory = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1]) >> 20
    peers = [f"LXD {version('dpkg-query', '-Wf', '${Version}', 'lxd')}", f"LXC {version('lxc-start', '--version')}",
             f"SQLite {version('dpkg-query', '-Wf', '${Version}', 'libsqlite3-0')}", version("gcc", "--version")]
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    return (f"Measured on {time.strftime('%Y-%m-%d')}: {system}, {os.cpu_count()} cores, {memory} GiB, kernel "
            f"{platform.release().partition('-')[0]}; {', '.join(peers)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?")
    parser.add_argument("--document", default=results.ROOT / "docs/performance.md")
    options = parser.parse_args()
    text = f"{machine()}\n\n{table(results.read(options.results))}"
    if options.document == "-":
        return print(text)
    document = pathlib.Path(options.document)
    before, _, rest = document.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"table.py: {document} has no markers '{BEGIN}' and '{END}'")
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()

"""The figures that the benches write: one JSON line each, appended to $SVC_BENCH_RESULTS (build/bench-results.jsonl).

A line: {"figure", "ours", "baseline", "ratio", "mark", "met", "command"}. `ours` and `baseline` are texts with their unit
(`baseline` also says what it is), `ratio` is ours / baseline or null, `met` is true, false, or null where there is no mark.
A later line of the same figure replaces an earlier one: see table.py.
"""
import json
import os
import pathlib
import signal
import sys

# A bench that is ended by a time limit takes its daemons with it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

ROOT = pathlib.Path(__file__).resolve().parents[2]


def results_file():
    chosen = os.environ.get("SVC_BENCH_RESULTS")
    return pathlib.Path(chosen) if chosen else pathlib.Path(os.environ.get("SVC_BUILD_DIR", ROOT / "build")) / "bench-results.jsonl"


def text_of(value, unit):
    """Three significant digits where there are fewer than four before the point."""
    if value is None or isinstance(value, str):
        return value or ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def report(figure, ours, baseline=None, *, unit="", peer="", mark="", met=None, command="", note=""):
    """Prints one figure and appends its line. `ours` and `baseline` are numbers of `unit`; `peer` says what the baseline is,
    `note` what else is to be known of ours."""
    ratio = ours / baseline if baseline else None
    theirs = ", ".join(part for part in (text_of(baseline, unit), peer) if part)
    line = {"figure": figure, "ours": text_of(ours, unit) + (f" ({note})" if note else ""), "baseline": theirs,
            "ratio": None if ratio is None else float(f"{ratio:.3g}"), "mark": mark, "met": met, "command": command}
    verdict = {True: "met", False: "MISSED", None: ""}[met]
    print(f"{figure:56} ours {line['ours']:>14}  baseline {theirs or '-':>30}  ratio {line['ratio'] or '-'!s:>6}"
          f"  mark {mark or 'none'}: {verdict}".rstrip(": "), flush=True)
    append(line)
    return line


def append(line):
    target = results_file()
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "a") as out:
        out.write(json.dumps(line) + "\n")


def read(source=None):
    """The newest line of each figure, in the order in which the figures first came."""
    lines = {}
    for text in pathlib.Path(source or results_file()).read_text().splitlines():
        line = json.loads(text)
        lines[line["figure"]] = line
    return list(lines.values())

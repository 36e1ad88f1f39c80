"""The names of all failpoints, read from the source, and those that no walk reaches."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("libsvc", "server", "instance-agent", "cli")

# Name -> why no workload of the walks comes there.
UNREACHED = {
    "events.segment_removed": "comes after 10,000 events",
    **dict.fromkeys(("lxd.founded", "lxd.invited", "lxd.joined"), "needs machines with an LXD each"),
}


def names():
    """{name: [file, ...]}: each call of failpoint() with a text."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            for name in re.findall(r'failpoint\("([^"]*)"\)', path.read_text()):
                found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found

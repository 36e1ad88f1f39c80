#!/usr/bin/env python3
"""`meson install` leaves no debug sections and no table of local symbols in what it installs: meson.build asks for that by
default, and what is installed from this build folder has none.

usage: installed.py BUILD_FOLDER SOURCE_FOLDER"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
UNWANTED = re.compile(r"\]\s+(\.debug_\w+|\.symtab)\s")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_program_or_library(path):
    with path.open("rb") as file:
        return path.is_file() and not path.is_symlink() and file.read(4) == b"\x7fELF"


def faults(folder):
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and is_program_or_library(path)]
    names = {path.name for path in found}
    yield from (f"{name} was not installed" for name in ("svcd", "svcctl", "svc-agent", "svc-gateway") if name not in names)
    for path in found:
        sections = UNWANTED.findall(output("readelf", "-SW", str(path)))
        if sections:
            yield f"{path.relative_to(folder)} has {', '.join(sections)}"


def main(build, source):
    if "'strip=true'" not in (pathlib.Path(source) / "meson.build").read_text():
        sys.exit("meson.build does not ask for stripped programs: default_options has no 'strip=true'")
    options = {option["name"]: option["value"] for option in json.loads(output("meson", "introspect", "--buildoptions", build))}
    if not options["strip"]:
        print(f"skipped: this build folder was made with strip=false; meson configure {build} -Dstrip=true")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        output("meson", "install", "-C", build, "--no-rebuild", "--destdir", folder)
        found = list(faults(pathlib.Path(folder)))
    print("\n".join(found) or "what is installed is stripped")
    sys.exit(1 if found else 0)


main(*sys.argv[1:])

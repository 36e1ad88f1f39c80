#!/usr/bin/env python3
"""libsvcguest is what its header says: nothing else is exported, nothing but the C library is needed, the
archive leaves a program its own names, and the header stands alone in C11 and C++.

    c_library.py LIBRARY ARCHIVE HEADER
"""
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def defined(*options):
    return {line.split()[-1].split("@")[0] for line in output("nm", "--defined-only", *options).splitlines() if len(line.split()) == 3}


def compile_faults(header):
    for language, standard in (("c", "c11"), ("c++", "c++17")):
        command = ["cc", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", header]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode != 0 and "main file" not in told.stderr:
            yield told.stderr


def faults(library, archive, header):
    declared = set(re.findall(r"SVCGUEST_API[^;(]*?(\w+)\(", open(header, encoding="utf-8").read()))
    exported = defined("-D", library) - {"SVCGUEST_1"}
    yield from (f"{name} is declared and not exported" for name in sorted(declared - exported))
    yield from (f"{name} is exported and not declared" for name in sorted(exported - declared))
    dynamic = output("readelf", "-d", library)
    if "[libsvcguest.so.1]" not in dynamic:
        yield "the library is not called libsvcguest.so.1"
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", dynamic))
    yield from (f"{name} is needed" for name in sorted(needed) if not name.startswith(("libc.", "ld-")))
    yield from (f"the archive takes the name {name}" for name in sorted(defined("-g", archive)) if not name.startswith("svcguest_"))
    yield from compile_faults(header)


def main():
    found = list(faults(*sys.argv[1:]))
    print("\n".join(found) or "libsvcguest is as its header says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

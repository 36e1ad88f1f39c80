#!/usr/bin/env python3
"""Validates the API's document with a public validator from npm, which is installed once into CACHE (versions pinned in
tests/lint/openapi) and used offline afterwards. Skipped, saying why, only where npm cannot be reached.

    openapi_valid.py DOCUMENT_JSON CACHE
    openapi_valid.py --prepare CACHE
"""
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "openapi"
SKIPPED = 77


def prepare(cache):
    """What is in the way, or nothing."""
    cache.mkdir(parents=True, exist_ok=True)
    changed = False
    for name in ("package.json", "package-lock.json", "check.mjs"):
        target = cache / name
        if not target.exists() or target.read_bytes() != (SOURCE / name).read_bytes():
            changed = True
            shutil.copyfile(SOURCE / name, target)
    if (cache / "node_modules").exists() and not changed:
        return None
    if not shutil.which("npm") or not shutil.which("node"):
        return "node and npm are not installed"
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=cache, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if done.returncode == 0:
        return None
    shutil.rmtree(cache / "node_modules", ignore_errors=True)
    return "npm cannot install the validator: " + done.stdout[-500:]


def main():
    obstacle = prepare(pathlib.Path(sys.argv[2]))
    if obstacle:
        print("skipped: " + obstacle)
        return SKIPPED
    if sys.argv[1] == "--prepare":
        return 0
    document = pathlib.Path(sys.argv[1]).resolve()
    return subprocess.run(["node", "check.mjs", document], cwd=sys.argv[2], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Validates the API's document with a public validator from npm, which is installed once into CACHE (versions pinned in
tests/lint/openapi) and used offline afterwards. Skipped, saying why, only where npm cannot be reached.

    openapi_valid.py DOCUMENT_JSON CACHE
    openapi_valid.py --prepare CACHE
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "server/ui"))
import npm_folder  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent / "openapi"
SKIPPED = 77


def main():
    obstacle = npm_folder.prepare(SOURCE, pathlib.Path(sys.argv[2]), ("package.json", "package-lock.json", "check.mjs"))
    if obstacle:
        print("skipped: " + obstacle)
        return SKIPPED
    if sys.argv[1] == "--prepare":
        return 0
    document = pathlib.Path(sys.argv[1]).resolve()
    return subprocess.run(["node", "check.mjs", document], cwd=sys.argv[2], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What a browser loads of the console, compressed as svcd sends it, is at most 250 kB.

    console_size.py FOLDER[=PREFIX]..."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "server"))
import web_files  # noqa: E402

MOST = 250_000


def sizes(folders):
    for name, _, prefix in (text.partition("=") for text in folders):
        for path, _, content in web_files.files(pathlib.Path(name), prefix):
            yield len(web_files.compressed(content)[1]), path


def main():
    found = sorted(sizes(sys.argv[1:]), reverse=True)
    total = sum(size for size, _ in found)
    libraries = sum(size for size, path in found if path.startswith("lib/"))
    print(f"{len(found)} files, {total} bytes compressed, {libraries} of them libraries; the largest: "
          + ", ".join(f"{path} {size}" for size, path in found[:5]))
    return 0 if 0 < total <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Puts the files of folders into a C++ source, as they are and compressed, and says in a file for ninja what it has read.

    web_files.py NAMESPACE::FUNCTION OUTPUT.cpp DEPENDENCIES FOLDER[=PREFIX]...
"""
import concurrent.futures
import gzip
import hashlib
import pathlib
import shutil
import subprocess
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
LEFT_OUT = {"node_modules", "tests", "test"}


def files(folder, prefix):
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in LEFT_OUT for part in parts)
        if path.is_file() and path.suffix in TYPES and not hidden:
            yield prefix + "/".join(parts), TYPES[path.suffix], path.read_bytes()


def compressed(content):
    """(coding of HTTP, bytes): with brotli where it is installed, else with gzip. The same for the same bytes."""
    if shutil.which("brotli"):
        done = subprocess.run(["brotli", "--stdout", "--quality=11", "-"], input=content, stdout=subprocess.PIPE, check=True)
        return "br", done.stdout
    return "gzip", gzip.compress(content, 9, mtime=0)


def as_literal(content):
    """Every byte but plain text an escape of three octal digits: no digit that follows can be taken for a part of it."""
    plain = {34: '\\"', 92: "\\\\", 10: "\\n"}
    signs = [plain.get(byte) or (chr(byte) if 32 <= byte < 127 and byte != 63 else f"\\{byte:03o}") for byte in content]
    pieces = ["".join(signs[start:start + 2000]) for start in range(0, len(signs), 2000)]
    return "\n        ".join(f'"{piece}"' for piece in pieces) or '""'


def as_view(content):
    return f"std::string_view({as_literal(content)}, {len(content)})"


def entry(path, content_type, content):
    coding, packed = compressed(content)
    if len(packed) >= len(content):
        coding, packed = "", b""
    tag = hashlib.sha256(content).hexdigest()[:32]
    return f'        {{"{path}", "{content_type}", {as_view(content)}, "{coding}", {as_view(packed)}, "\\"{tag}\\""}},'


def source(function, folders):
    namespace, _, name = function.rpartition("::")
    lines = ['#include "server/http/web_files.h"', "", "#include <vector>", "", f"namespace {namespace} {{", "",
             f"std::span<const svc::server::WebFile> {name}();", f"std::span<const svc::server::WebFile> {name}() {{",
             "    static const std::vector<svc::server::WebFile> files{"]
    found = [file for folder, prefix in folders for file in files(folder, prefix)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        lines += pool.map(lambda file: entry(*file), found)
    lines += ["    };", "    return files;", "}", "", f"}}  // namespace {namespace}", ""]
    return "\n".join(lines)


def dependencies(output, folders):
    """A folder changes when a file in it comes or goes."""
    read = [folder for folder, _ in folders] + [path for folder, _ in folders for path in sorted(folder.rglob("*"))]
    return f"{output}: " + " ".join(str(path).replace(" ", "\\ ") for path in read) + "\n"


def main():
    function, output, read = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folders = [(pathlib.Path(name), prefix) for name, _, prefix in (text.partition("=") for text in sys.argv[4:])]
    output.write_text(source(function, folders))
    read.write_text(dependencies(sys.argv[2], folders))


if __name__ == "__main__":
    main()

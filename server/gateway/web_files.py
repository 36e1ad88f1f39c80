#!/usr/bin/env python3
"""Puts the files of the gateway's page into a C++ source. Writes it only when it changes.

    web_files.py FOLDER OUTPUT.cpp
"""
import hashlib
import pathlib
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


def files(folder):
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in LEFT_OUT for part in parts)
        if path.is_file() and path.suffix in TYPES and not hidden:
            yield "/".join(parts), TYPES[path.suffix], path.read_bytes()


def as_literal(content):
    """Every byte but plain text an escape of three octal digits: no digit that follows can be taken for a part of it."""
    plain = {34: '\\"', 92: "\\\\", 10: "\\n"}
    signs = [plain.get(byte) or (chr(byte) if 32 <= byte < 127 and byte != 63 else f"\\{byte:03o}") for byte in content]
    pieces = ["".join(signs[start:start + 2000]) for start in range(0, len(signs), 2000)]
    return "\n        ".join(f'"{piece}"' for piece in pieces) or '""'


def source(folder):
    lines = ['#include "server/gateway/web_files.h"', "", "#include <vector>", "", "namespace svc::gateway {", "",
             "std::span<const WebFile> web_files() {", "    static const std::vector<WebFile> files{"]
    for path, content_type, content in files(folder):
        tag = hashlib.sha256(content).hexdigest()[:32]
        lines.append(f'        {{"{path}", "{content_type}", std::string_view({as_literal(content)}, {len(content)}),'
                     f' "\\"{tag}\\""}},')
    lines += ["    };", "    return files;", "}", "", "}  // namespace svc::gateway", ""]
    return "\n".join(lines)


def main():
    folder, output = map(pathlib.Path, sys.argv[1:3])
    text = source(folder)
    if not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main()

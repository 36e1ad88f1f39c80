#!/usr/bin/env python3
"""Puts the files of folders into a C++ source, as they are and compressed. Writes it only when it changes.

    web_files.py NAMESPACE::FUNCTION OUTPUT.cpp FOLDER[=PREFIX]...
"""
import gzip
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


def files(folder, prefix):
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in LEFT_OUT for part in parts)
        if path.is_file() and path.suffix in TYPES and not hidden:
            yield prefix + "/".join(parts), TYPES[path.suffix], path.read_bytes()


def compressed(content):
    """With gzip; nothing where that saves nothing. The same for the same bytes: no time, no name."""
    packed = gzip.compress(content, 9, mtime=0)
    return packed if len(packed) < len(content) else b""


def as_literal(content):
    """Every byte but plain text an escape of three octal digits: no digit that follows can be taken for a part of it."""
    plain = {34: '\\"', 92: "\\\\", 10: "\\n"}
    signs = [plain.get(byte) or (chr(byte) if 32 <= byte < 127 and byte != 63 else f"\\{byte:03o}") for byte in content]
    pieces = ["".join(signs[start:start + 2000]) for start in range(0, len(signs), 2000)]
    return "\n        ".join(f'"{piece}"' for piece in pieces) or '""'


def as_view(content):
    return f"std::string_view({as_literal(content)}, {len(content)})"


def source(function, folders):
    namespace, _, name = function.rpartition("::")
    lines = ['#include "server/http/web_files.h"', "", "#include <vector>", "", f"namespace {namespace} {{", "",
             f"std::span<const svc::server::WebFile> {name}();", f"std::span<const svc::server::WebFile> {name}() {{",
             "    static const std::vector<svc::server::WebFile> files{"]
    for folder, prefix in folders:
        for path, content_type, content in files(folder, prefix):
            tag = hashlib.sha256(content).hexdigest()[:32]
            lines.append(f'        {{"{path}", "{content_type}", {as_view(content)}, {as_view(compressed(content))},'
                         f' "\\"{tag}\\""}},')
    lines += ["    };", "    return files;", "}", "", f"}}  // namespace {namespace}", ""]
    return "\n".join(lines)


def main():
    function, output = sys.argv[1], pathlib.Path(sys.argv[2])
    folders = [(pathlib.Path(name), prefix) for name, _, prefix in (text.partition("=") for text in sys.argv[3:])]
    text = source(function, folders)
    if not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main()

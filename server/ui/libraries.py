#!/usr/bin/env python3
"""The libraries of the console, from npm: their versions and digests are in package-lock.json.

    libraries.py FOLDER     installs them into FOLDER/npm, and leaves what the console loads in FOLDER/lib

Exit status 0: they are there. 1: npm is not there, or cannot get them; the reason is on stderr."""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import npm_folder  # noqa: E402

LICENCES = {"MIT", "Apache-2.0", "ISC", "BSD-2-Clause", "BSD-3-Clause"}
# What the console loads, and where it is in the packages.
FILES = {
    "preact.js": "preact/dist/preact.mjs",
    "hooks.js": "preact/hooks/dist/hooks.mjs",
    "htm.js": "htm/dist/htm.module.js",
    "uplot.js": "uplot/dist/uPlot.iife.min.js",
    "uplot.css": "uplot/dist/uPlot.min.css",
    "xterm.js": "@xterm/xterm/lib/xterm.js",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "fit.js": "@xterm/addon-fit/lib/addon-fit.js",
}
# Files that are no modules, and what makes them some.
WRAPPED = {
    "uplot.js": ("", "\nexport default uPlot;\n"),
    "xterm.js": ("const exports = {}, module = { exports };\n", "\nexport const Terminal = module.exports.Terminal;\n"),
    "fit.js": ("const exports = {}, module = { exports };\n", "\nexport const FitAddon = module.exports.FitAddon;\n"),
}


def as_module(name, text):
    """A browser finds no package by its name, and the maps of the sources are not served."""
    text = re.sub(r'(from ?)"preact"', r'\1"./preact.js"', text)
    text = re.sub(r"\n?//# sourceMappingURL=\S+\s*$", "\n", text)
    before, after = WRAPPED.get(name, ("", ""))
    return before + text + after


def refused_licence(modules):
    """The first package whose licence is not in the list, or nothing."""
    for path in modules.rglob("package.json"):
        about = json.loads(path.read_text(encoding="utf-8"))
        if "version" in about and "name" in about and about.get("license") not in LICENCES:
            return f"{about['name']} {about['version']}: {about.get('license')}"
    return None


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    obstacle = npm_folder.prepare(HERE, folder / "npm")
    if obstacle:
        sys.exit(obstacle)
    modules = folder / "npm/node_modules"
    refused = refused_licence(modules)
    if refused:
        sys.exit("the licence of a library of the console is not in the list: " + refused)
    (folder / "lib").mkdir(exist_ok=True)
    for name, source in FILES.items():
        write_if_changed(folder / "lib" / name, as_module(name, (modules / source).read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()

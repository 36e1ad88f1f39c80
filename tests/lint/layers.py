#!/usr/bin/env python3
"""Checks every #include of the tree against the layer table of libsvc/meson.build and, inside a front end, against its rooms
(rooms.py); and every third-party header against the one folder that may include it. Prints each violation; exit status 1
when there is one."""
import ast
import os
import pathlib
import re
import sys

from rooms import AGAINST_THE_ORDER, ROOMS

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Third-party headers by prefix -> folders whose .cpp files may include them.
LIBRARIES = {
    "rapidjson/": ["libsvc/base"],
    "spdlog/": ["libsvc/base"],
    "openssl/": ["libsvc/base", "libsvc/net", "tests/support", "tests/bench"],
    "boost/": ["libsvc/net"],
    "httplib.h": ["libsvc/net"],
    "wslay/": ["libsvc/net"],
    "yaml-cpp/": ["libsvc/formats"],
    "expat.h": ["cli/tracks"],
    "utf8proc.h": ["cli/output"],
    "archive.h": ["libsvc/formats", "tests"],
    "bzlib.h": ["libsvc/formats", "tests/fuzz"],
    "lzma.h": ["libsvc/formats", "tests"],
    "zlib.h": ["libsvc/formats"],
    "archive_entry.h": ["libsvc/formats", "tests"],
    "sqlite3.h": ["libsvc/store/sqlite", "tests/bench"],
    "lxc/": ["libsvc/runtime/lxc"],
    "nftables/": ["libsvc/runtime/lxc"],
    "seccomp.h": ["libsvc/runtime/lxc/launcher"],
    "jwt.h": ["libsvc/services"],
    "macaroons.h": ["libsvc/streaming"],
    "CLI/": ["cli", "server"],
    "systemd/": ["server"],
    "catch2/": ["tests"],
    "prometheus/": ["tests/bench"],
    "jpeglib.h": ["instance-agent/agent/devices/camera", "tests/agent"],
    "pulse/": ["instance-agent/streamer/sound", "tests/streamer"],
    "X11/": ["instance-agent/streamer/clipboard", "instance-agent/streamer/display", "instance-agent/streamer/input", "instance-agent/samples", "tests/streamer"],
    "X11/extensions/Xdamage.h": ["instance-agent/streamer/display"],
    "X11/extensions/Xfixes.h": ["instance-agent/streamer/clipboard", "instance-agent/streamer/display"],
    "gst/": ["instance-agent/streamer/media", "tests/streamer"],
}
# Front-ends: what each may include of libsvc and of itself.
FRONT_ENDS = {
    "server": None,  # the daemon builds every object, so it may name all layers
    "cli": {"base", "formats", "model", "net", "client"},
    "instance-agent": {"base", "formats", "model", "net"},
}


def layer_table():
    """{layer: set of layers it may use} as the meson table says."""
    text = (ROOT / "libsvc/meson.build").read_text()
    table = {}
    for name, uses in re.findall(r"'([\w/]+)': \{[^']*'uses': (\[[^\]]*\])", text):
        table[name] = set(ast.literal_eval(uses))
    table["net"] |= table.pop("net_extra") - {"net"}
    return {name: uses - {"net_extra"} | {name} for name, uses in table.items()}


def layer_of(parts):
    """The layer of a path below libsvc: its first folder; of services, the folder of its noun."""
    return "/".join(parts[1:3]) if parts[1] == "services" else parts[1]


def allowed_layers(path, table):
    parts = path.relative_to(ROOT).parts
    if parts[0] == "libsvc":
        return table.get(layer_of(parts))
    return FRONT_ENDS.get(parts[0])


def check_libraries(path, include):
    place = str(path.relative_to(ROOT))
    for prefix, folders in LIBRARIES.items():
        if include.startswith(prefix) and not any(place.startswith(folder + "/") for folder in folders):
            yield f"{place}: <{include}> belongs to {', '.join(folders)} alone"


def check_layer(path, include, allowed):
    parts = include.split("/")
    if parts[0] == "libsvc" and allowed is not None and layer_of(parts) not in allowed:
        yield f"{path.relative_to(ROOT)}: may not include {include}"
    if parts[0] in FRONT_ENDS and path.relative_to(ROOT).parts[0] not in (parts[0], "tests"):
        yield f"{path.relative_to(ROOT)}: may not include {include}"


def front_end_of(folder):
    """The front end whose table has this folder, and the room's name there; nothing: no front end."""
    for name in sorted(ROOMS, key=len, reverse=True):
        if folder == name or folder.startswith(name + "/"):
            return name, folder[len(name) + 1:]
    return None


def full_name(front_end, room):
    """A room's folder. Of an inner front end (agent, streamer) those of the outer one are named without it."""
    outer = front_end.split("/")[0]
    if room not in ROOMS[front_end] and room in ROOMS.get(outer, {}):
        front_end = outer
    return f"{front_end}/{room}".rstrip("/")


def rooms_used(front_end, room):
    """The folders that a room may include besides itself."""
    above = list(ROOMS[front_end])
    above = above[:above.index(room)]
    uses = ROOMS[front_end][room][1]
    return [full_name(front_end, name) for name in (above + uses[1:] if uses[:1] == ["*"] else uses)]


def check_tables():
    """Each row may name rows above it alone, which leaves no way for a circle."""
    for front_end, table in ROOMS.items():
        above = {full_name(front_end, room) for room in ROOMS[front_end.split("/")[0]]} if "/" in front_end else set()
        for room in table:
            for used in rooms_used(front_end, room):
                if used not in above:
                    yield f"rooms.py: {full_name(front_end, room)} names {used}, which does not stand above it"
            above.add(full_name(front_end, room))


def check_room(path, include):
    """An include of the same front end, in full or beside the file, against the front end's rooms."""
    here = path.relative_to(ROOT).parent
    if (path.parent / include).exists():
        include = os.path.normpath(here / include)
    found, target = front_end_of(str(here)), str(pathlib.PurePath(include).parent)
    if found is None or target == str(here) or target.split("/")[0] != here.parts[0]:
        return
    front_end, room = found
    if room not in ROOMS[front_end]:
        yield f"{path.relative_to(ROOT)}: folder {here} has no row in rooms.py"
    elif target not in rooms_used(front_end, room) and (str(here), target) not in AGAINST_THE_ORDER:
        yield f"{path.relative_to(ROOT)}: room {here} may not include {include}"


def violations():
    yield from check_tables()
    table = layer_table()
    for folder in ("libsvc", "server", "cli", "instance-agent", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".c"):
                continue
            for include in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.M):
                yield from check_libraries(path, include)
                if folder != "tests":
                    yield from check_layer(path, include, allowed_layers(path, table))
                    yield from check_room(path, include)


if __name__ == "__main__":
    found = list(violations())
    print("\n".join(found) or "layers: every include is allowed")
    sys.exit(1 if found else 0)

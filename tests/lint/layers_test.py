#!/usr/bin/env python3
"""The lock itself is tested: includes that must be refused are refused."""
import sys

import layers

table = layers.layer_table()
path = layers.ROOT / "libsvc/base/error.cpp"


def refused(include, place=path):
    return list(layers.check_layer(place, include, layers.allowed_layers(place, table))) + list(
        layers.check_libraries(place, include))


def refused_room(place, include):
    return list(layers.check_room(layers.ROOT / place, include))


def refused_table(name, rows):
    """What the check of the tables says when a front end has this one."""
    kept = dict(layers.ROOMS)
    layers.ROOMS[name] = rows
    try:
        return list(layers.check_tables())
    finally:
        layers.ROOMS.clear()
        layers.ROOMS.update(kept)


checks = {
    "base may not use model": refused("libsvc/model/packages/image.h"),
    "base may not use boost": refused("boost/asio.hpp"),
    "base may use itself": not refused("libsvc/base/json.h"),
    "libsvc may not use server": refused("server/daemon.h"),
    "services may use the engine": not refused("libsvc/operations/engine.h", layers.ROOT / "libsvc/services/x.cpp"),
    "cli may not use services": refused("libsvc/services/images/image_service.h", layers.ROOT / "cli/main.cpp"),
    "the table was read": len(table) >= 12,
    "the rooms stand in order": not list(layers.check_tables()),
    "a room may not name a room below it": refused_table("cli", {"output": ("", ["views"]), "views": ("", ["output"])}),
    "a room may use what its row names": not refused_room("cli/views/x.cpp", "cli/output/table.h"),
    "a room may use itself": not refused_room("cli/views/x.cpp", "cli/views/application_view.h"),
    "output may not use views": refused_room("cli/output/x.cpp", "cli/views/application_view.h"),
    "a relative include is seen": refused_room("cli/output/x.cpp", "../views/application_view.h"),
    "routes may not use the composition": refused_room("server/routes/x.cpp", "server/gateway/gateway.h"),
    "http may not use routes": refused_room("server/http/x.cpp", "server/routes/api.h"),
    "devices may not use one of them": refused_room("instance-agent/agent/devices/x.cpp",
                                                    "instance-agent/agent/devices/camera/pixels.h"),
    "the agent's rooms may not use its root": refused_room("instance-agent/agent/guest/x.cpp", "instance-agent/agent/options.h"),
    "agent and streamer may not use each other": refused_room("instance-agent/agent/guest/x.cpp",
                                                              "instance-agent/streamer/peer/peer.h"),
    "agent and streamer may use what they share": not refused_room("instance-agent/agent/devices/platform/x.cpp",
                                                                   "instance-agent/shared/bitrate_limits.h"),
    "a folder without a row is refused": refused_room("cli/attic/x.cpp", "cli/output/table.h"),
    "utf8proc belongs to the output": refused("utf8proc.h", layers.ROOT / "cli/views/x.cpp"),
}
failed = [name for name, ok in checks.items() if not ok]
print("\n".join(f"failed: {name}" for name in failed) or f"{len(checks)} checks of the lock hold")
sys.exit(1 if failed else 0)

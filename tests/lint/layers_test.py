#!/usr/bin/env python3
"""The lock itself is tested: includes that must be refused are refused."""
import sys

import layers

table = layers.layer_table()
path = layers.ROOT / "libsvc/base/error.cpp"


def refused(include, place=path):
    return list(layers.check_layer(place, include, layers.allowed_layers(place, table))) + list(
        layers.check_libraries(place, include))


checks = {
    "base may not use model": refused("libsvc/model/packages/image.h"),
    "base may not use boost": refused("boost/asio.hpp"),
    "base may use itself": not refused("libsvc/base/json.h"),
    "libsvc may not use server": refused("server/daemon.h"),
    "services may use the engine": not refused("libsvc/operations/engine.h", layers.ROOT / "libsvc/services/x.cpp"),
    "cli may not use services": refused("libsvc/services/images/image_service.h", layers.ROOT / "cli/main.cpp"),
    "the table was read": len(table) >= 12,
}
failed = [name for name, ok in checks.items() if not ok]
print("\n".join(f"failed: {name}" for name in failed) or f"{len(checks)} checks of the lock hold")
sys.exit(1 if failed else 0)

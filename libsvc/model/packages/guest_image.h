#pragma once
// How the guest of a root file system is started and recognised as up (specification: Image metadata).
// Application versions, base containers and instances inherit these fields from the metadata of their image.
#include <cstdint>
#include <string>

#include "libsvc/base/interned.h"

namespace svc {

// How the agent finds out that the guest is up: all checks that are set must pass. From `properties` of
// metadata.yaml: ready_file, ready_command, ready_port.
struct ReadinessCheck {
    std::string file;        // exists
    std::string command;     // exits with 0 (run by /bin/sh -c)
    std::uint16_t port = 0;  // accepts TCP connections on the instance's loopback
    bool operator==(const ReadinessCheck&) const = default;
};

template <>
struct InternHash<ReadinessCheck> {
    std::size_t operator()(const ReadinessCheck& ready) const;
};

struct GuestImage {
    Interned<std::string> architecture;   // "x86_64" or "aarch64"
    Interned<std::string> init;           // path of the first program; "": /sbin/init, of Android /init
    Interned<std::string> image_variant;  // "android", "aaos" or ""
    Interned<ReadinessCheck> ready;
    bool android = false;  // it gets what Android needs (docs/android.md)
};

}  // namespace svc

#pragma once
// What every device's constructor gets. All of it outlives the devices.
#include <filesystem>
#include <string>

#include "instance-agent/agent/files/paths.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"

namespace svc::agent {

struct DeviceContext {
    Paths paths;                        // `data` holds traces and settings
    std::filesystem::path sockets;      // where a device makes a socket: the folder of the control API
    std::filesystem::path vhal_config;  // file of vehicle properties; "": the built-in table
    std::string platform;               // "webrtc", "swrast", "null"; "" counts as "null"
    bool automotive = false;            // the image has vehicle properties
    bool in_instance = false;           // may make links in /dev; not on a developer's machine
    MetricsRegistry& metrics;           // the devices' series are named runtime_*
    Clock& clock;

    // The folder of state files. May be absent; a device makes it with mode 0700.
    std::filesystem::path state() const { return paths.state(); }
};

}  // namespace svc::agent

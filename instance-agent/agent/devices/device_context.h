#pragma once
// What devices are built with. Everything in it outlives them.
#include <filesystem>
#include <string>

#include "instance-agent/agent/paths.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"

namespace svc::agent {

struct DeviceContext {
    Paths paths;                        // `data` is where traces and settings go
    std::filesystem::path sockets;      // folder for sockets a device makes: that of the control API
    std::filesystem::path vhal_config;  // a file for the vehicle properties; "": the built-in table
    std::string platform;               // of the instance: "webrtc", "swrast", "null"; "" is the last one
    bool automotive = false;            // of the image: vehicle properties are served
    bool in_instance = false;  // may leave names in the guest's /dev; a developer's machine is let be
    MetricsRegistry& metrics;  // series are named runtime_*
    Clock& clock;

    // What a restarted agent finds again. May be absent; 0700 where a device makes it.
    std::filesystem::path state() const { return paths.state(); }
};

}  // namespace svc::agent

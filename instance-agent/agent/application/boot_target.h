#pragma once
// What of an application is brought to the screen.
#include <string>
#include <vector>

#include "libsvc/model/instances/instance.h"

namespace svc::agent {

struct BootTarget {
    std::string package;   // "": nothing is started
    std::string activity;  // "": the one that the package's icon stands for
};

// Of the launch, else of the application. The activity of the application goes with its own package alone.
BootTarget boot_target(const AgentSession& session);

// Packages beside that of the target that may be in the foreground; {"*"}: all.
struct Watch {
    bool on = false;
    std::vector<std::string> allowed;
};

// Off where nothing is started, by manifest or launch, and in development mode.
Watch watch_of(const AgentSession& session);

}  // namespace svc::agent

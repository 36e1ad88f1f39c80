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

struct Watch {
    bool on = false;
    std::vector<std::string> allowed;  // packages beside that of the target on the screen; {"*"}: all
    std::string command;               // fails when the application does; "": none
};

// Off where there is nothing to watch, by manifest or launch, and in development mode.
Watch watch_of(const AgentSession& session);

}  // namespace svc::agent

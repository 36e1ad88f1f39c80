#pragma once
// The signals that ask an init to shut down.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

struct HaltSignals {
    std::string name;  // for liblxc's lxc-stop
    std::vector<int> numbers;
    bool sleeps_at_end = false;  // the init is one that is_asleep_at_end() knows
};

// By the program that an init leads to when links are resolved ("/lib/systemd/systemd").
HaltSignals halt_signals(std::string_view init_target);

// Those of a container whose root file system is mounted at `root`. Looks into the file of an image that was
// made of an OCI image (docs/oci.md): the signal that such an image names is meant for the init that it
// starts. Throws invalid_argument "image has no init:
// ...".
HaltSignals find_halt_signals(const std::filesystem::path& root, const ContainerSpec& spec);

}  // namespace svc::lxc

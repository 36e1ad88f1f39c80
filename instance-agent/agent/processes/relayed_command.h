#pragma once
// The command of svc-agent relay as a child process, with pipes or a terminal of its own.
#include <sys/types.h>

#include <string>
#include <vector>

#include "libsvc/base/file.h"

namespace svc::agent {

// For a process with one thread. The descriptors do not block.
struct RelayedCommand {
    pid_t pid = -1;
    int exec_error = 0;     // errno: the command could not be executed
    bool terminal = false;  // `input` and `output` are then one descriptor, and `errors` is none
    FileDescriptor input, output, errors;
};

// The child is killed when this process ends. `size`: "80x24", of a terminal; "": three pipes.
RelayedCommand start_relayed(const std::vector<std::string>& command, const std::string& size);
void set_window(int terminal, const std::string& size);  // what is no size changes nothing

}  // namespace svc::agent

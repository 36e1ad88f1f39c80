#pragma once
// The process outside a container that starts it, keeps its console, starts it again when the guest restarts
// itself, and writes how it ended.
#include <string>
#include <vector>

namespace svc::lxc {

struct MonitorStart {
    std::string folder;     // of the container
    std::string exit_file;  // gets the status of init: code << 8, or signal << 8 | 0x7f; -1: it never ran
    bool agent = false;
    std::vector<std::string> command;  // instead of init; empty: none
};

// Tells the runtime over the control socket when init has been executed. Does not return.
// Writes a byte to `answered` then, and closes it.
[[noreturn]] void be_monitor(const MonitorStart& start, int answered);

// As text for the file of the reason, in the form of liblxc's log.
void log_failure(const std::string& file, const char* text);

}  // namespace svc::lxc

#include "server/process/restart.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::process {

namespace {

constexpr std::size_t most_argument_bytes = std::size_t{2} << 20U;

// As they were given, each with a NUL behind it.
std::vector<char*> pointers_to(std::string& arguments) {
    std::vector<char*> pointers;
    for (std::size_t at = 0; at < arguments.size(); at = arguments.find('\0', at) + 1)
        pointers.push_back(arguments.data() + at);
    pointers.push_back(nullptr);
    return pointers;
}

std::mutex restarting;  // held while the process begins anew
bool ending = false;    // below `restarting`

}  // namespace

// The signal was taken from the kernel already: without this it would be forgotten by exec().
void end_restarts(int signal) {
    std::unique_lock lock(restarting, std::try_to_lock);
    if (!lock) {
        ::kill(::getpid(), signal);
        lock.lock();  // until it could not
    }
    ending = true;
}

void restart_self(std::string_view reason) {
    const std::lock_guard lock(restarting);
    if (ending) {
        log::warning("the process ends and does not begin anew", {{"reason", std::string(reason)}});
        std::_Exit(EXIT_SUCCESS);
    }
    log::warning("the process begins anew", {{"reason", std::string(reason)}});
    try {
        std::string arguments = read_file("/proc/self/cmdline", most_argument_bytes);
        if (!arguments.ends_with('\0')) arguments.push_back('\0');
        sd_notify(0, "RELOADING=1");
        ::execv("/proc/self/exe", pointers_to(arguments).data());
        throw system_error("cannot execute /proc/self/exe", errno);
    } catch (const Error& e) {
        log::error("the process cannot begin anew", {{"error", e.what()}});
    }
}

}  // namespace svc::process

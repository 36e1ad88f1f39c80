#pragma once
// Messages from svc-lxc to the runtime over a SOCK_SEQPACKET socket: one struct each. Both programs are of
// the same build, so there is no version.
#include <sys/types.h>

#include <cstdint>

namespace svc::lxc {

// Exit status of "svc-lxc claim": a device has a context manager at present.
constexpr int device_in_use = 3;

constexpr int control_fd = 3;  // the socket, in the helper
constexpr int command_fd =
    4;  // `exec`: number of arguments, arguments, environment; each ends with a zero byte

enum class HelperEvent : std::uint32_t {
    running,  // start, agent, query: has the pids; exec: the command runs; carries a pidfd (and the terminal)
    failed,   // `text` has the reason
    not_running,     // agent, query: the container does not run
    command_failed,  // exec: `value` is the errno of execve()
    ended,           // exec: `value` is the exit code or 128 + signal; `gone` when the whole container went
};

struct HelperMessage {
    HelperEvent event = HelperEvent::failed;
    std::int32_t init_pid = 0;
    std::int32_t monitor_pid = 0;
    std::int32_t agent_pid = 0;  // 0: not wanted, or could not be started
    std::int32_t command_pid = 0;
    std::int32_t value = 0;
    std::int32_t gone = 0;
    char text[192] = {};
};

}  // namespace svc::lxc

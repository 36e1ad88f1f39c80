#pragma once
// Where the guest interface is served, and its limits.
#include <chrono>
#include <cstddef>
#include <filesystem>

#include "libsvc/base/metrics.h"

namespace svc::agent {

struct GuestServerOptions {
    std::filesystem::path socket;
    std::size_t max_sessions = 256;          // a connection beyond it is closed at once
    std::size_t max_sessions_per_user = 64;  // for users without control rights
    std::size_t max_message = 1U << 20;      // bytes of JSON in one message
    std::size_t queue_bytes = 1U << 20;      // bytes that wait to be sent to one session
    std::size_t total_bytes = 32U << 20;     // bytes that wait in both directions, in all sessions
    std::chrono::milliseconds hello_limit{5000};
    MetricsRegistry* metrics = nullptr;  // runtime_guest_*; outlives the server
};

}  // namespace svc::agent

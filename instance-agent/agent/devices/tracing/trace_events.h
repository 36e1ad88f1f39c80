#pragma once
// Packets of a Perfetto trace as bytes. Pure functions.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace svc::agent {

enum class TracePhase : std::uint8_t { begin = 1, end = 2, instant = 3, counter = 4 };

struct TraceEvent {
    TracePhase phase = TracePhase::instant;
    std::string_view category, name;  // the end of a slice has neither
    std::uint64_t track = 0;
    std::int64_t time = 0;   // nanoseconds since boot
    std::int64_t value = 0;  // of counters
};

// Each is one `packet` field of the trace.
std::string trace_packet(const TraceEvent& event);
std::string process_track_packet(std::uint64_t track, pid_t pid,
                                 std::string_view name);  // the first of a trace
std::string thread_track_packet(std::uint64_t track, std::uint64_t parent, pid_t pid, pid_t tid,
                                std::string_view name);
std::string named_track_packet(std::uint64_t track, std::uint64_t parent, std::string_view name);
std::string counter_track_packet(std::uint64_t track, std::uint64_t parent, std::string_view name);

}  // namespace svc::agent

#include "instance-agent/agent/devices/tracing/tracer.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "instance-agent/agent/processes/boot_time.h"

namespace svc::agent {
namespace {

// Ids of tracks: the process, its threads, guests, counters, and the one for all beyond the limit.
constexpr std::uint64_t process_track = 1;
constexpr std::uint64_t shared_track = 2;
constexpr std::uint64_t thread_tracks = std::uint64_t{1} << 40;
constexpr std::uint64_t guest_tracks = std::uint64_t{1} << 48;
constexpr std::uint64_t counter_tracks = std::uint64_t{1} << 62;

std::uint64_t counter_track(std::uint64_t owner, std::string_view name) {
    const std::uint64_t hash = std::hash<std::string_view>{}(name) ^ (owner * 0x9e3779b97f4a7c15U);
    return counter_tracks | (hash & (counter_tracks - 1));
}

std::string describe_thread(std::uint64_t id, std::uint64_t parent) {
    std::array<char, 32> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    return thread_track_packet(id, parent, ::getpid(), static_cast<pid_t>(id - thread_tracks), name.data());
}

}  // namespace

void Tracer::note(TracePhase phase, std::string_view category, std::string_view name, std::int64_t value) {
    if (!active()) return;
    const TraceEvent event{phase, category, name, 0, boot_time(), value};
    if (phase == TracePhase::counter)
        return record(
            counter_track(process_track, name),
            [&](std::uint64_t id, std::uint64_t parent) { return counter_track_packet(id, parent, name); },
            event);
    thread_local const std::uint64_t thread =
        thread_tracks + static_cast<std::uint64_t>(::syscall(SYS_gettid));
    record(thread, describe_thread, event);
}

void Tracer::guest_event(std::uint64_t guest, const std::function<std::string()>& track_name,
                         TraceEvent event) {
    if (!active()) return;
    const bool counter = event.phase == TracePhase::counter;
    const std::uint64_t own = guest_tracks + guest;
    record(
        counter ? counter_track(own, event.name) : own,
        [&](std::uint64_t id, std::uint64_t parent) {
            return counter ? counter_track_packet(id, parent, track_name() + ": " + std::string(event.name))
                           : named_track_packet(id, parent, track_name());
        },
        event);
}

void Tracer::record(std::uint64_t track, const Describe& describe, TraceEvent event) {
    recording_.with([&](std::unique_ptr<Recording>& recording) {
        if (!recording) return;
        auto& tracks = recording->tracks;
        if (tracks.count(track) == 0) {
            if (tracks.size() < max_tracks)
                tracks[track] = describe(track, process_track);
            else
                track = shared_track;
        }
        event.track = track;
        recording->ring.append(trace_packet(event));
    });
}

bool Tracer::start() {
    return recording_.with([&](std::unique_ptr<Recording>& recording) {
        if (recording) return false;
        recording = std::make_unique<Recording>(capacity_);
        recording->tracks[process_track] = process_track_packet(process_track, ::getpid(), "svc-agent");
        recording->tracks[shared_track] = named_track_packet(shared_track, process_track, "others");
        active_ = true;
        return true;
    });
}

bool Tracer::stop(const std::function<void(const std::vector<std::string_view>&)>& write) {
    auto taken = recording_.with([&](std::unique_ptr<Recording>& recording) {
        active_ = false;
        return std::move(recording);
    });
    if (!taken) return false;
    std::vector<std::string_view> pieces;
    for (const auto& [id, packet] : taken->tracks) pieces.emplace_back(packet);  // the process is first
    for (const std::string_view part : taken->ring.content()) pieces.push_back(part);
    try {
        write(pieces);
    } catch (...) {
        resume(std::move(taken));
        throw;
    }
    return true;
}

void Tracer::resume(std::unique_ptr<Recording> taken) {
    recording_.with([&](std::unique_ptr<Recording>& recording) {
        if (!recording) recording = std::move(taken);
        active_ = true;
    });
}

}  // namespace svc::agent

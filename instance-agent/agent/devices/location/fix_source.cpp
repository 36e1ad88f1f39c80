#include "instance-agent/agent/devices/location/fix_source.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration fix_interval = 1s;  // how often the file is read: a hook may write it late
constexpr std::size_t max_file = 1024;

std::int64_t milliseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// Reads regular files alone: a pipe would block.
std::optional<Fix> read_static_position(const std::filesystem::path& file) try {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
    const auto fix = parse_static_position(read_file(file, max_file));
    if (!fix) log::debug("static position is not understood", {{"file", file.string()}});
    return fix;
} catch (const Error&) {
    return std::nullopt;  // most instances have no such file
}

}  // namespace

FixSource::FixSource(Clock& clock, std::filesystem::path static_position, bool enabled)
    : clock_(clock), static_position_(std::move(static_position)) {
    state_.with([&](State& state) { state.enabled = enabled; });
}

bool FixSource::enabled() const {
    return state_.with([](const State& state) { return state.enabled; });
}

void FixSource::enable(bool on) {
    state_.with([&](State& state) {
        if (state.enabled != on) state.repeated = false;
        state.enabled = on;
    });
}

void FixSource::update(const Fix& fix) {
    state_.with([&](State& state) {
        if (!state.enabled) throw Error(ErrorCode::invalid_argument, "Location updates are not enabled");
        state.last = fix;
        state.repeated = true;
        state.updated = clock_.steady_now();
    });
}

std::optional<Fix> FixSource::advanced(const State& state) const {
    if (!state.repeated) return std::nullopt;
    Fix fix = *state.last;
    fix.time += milliseconds(clock_.steady_now() - state.updated);
    return fix;
}

std::optional<Fix> FixSource::static_fix(State& state) const {
    const SteadyTime now = clock_.steady_now();
    if (!state.looked || now - *state.looked >= fix_interval) {
        state.resting = read_static_position(static_position_);
        state.looked = now;
    }
    std::optional<Fix> fix = state.resting;
    if (fix) fix->time = milliseconds(clock_.now().time_since_epoch());
    return fix;
}

std::optional<Fix> FixSource::current() {
    return state_.with([&](State& state) { return state.last ? advanced(state) : static_fix(state); });
}

std::optional<Fix> FixSource::last_known() {
    return state_.with([&](State& state) {
        if (!state.last) return static_fix(state);
        return state.repeated ? advanced(state) : state.last;
    });
}

}  // namespace svc::agent

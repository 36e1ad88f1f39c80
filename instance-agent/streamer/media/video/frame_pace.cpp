#include "instance-agent/streamer/media/video/frame_pace.h"

#include <algorithm>

namespace svc::streamer {
namespace {

constexpr int spare_enough = 3;
constexpr std::size_t most_debt = 30;  // frames

}  // namespace

void FramePace::changed(Moment now) {
    state_.with([&](State& state) {
        state.fresh = true;
        state.sharpen_until = now + sharpening;
        state.spare_frames = 0;
    });
}

void FramePace::asked(Moment now) {
    changed(now);
    state_.with([&](State& state) { state.asked_until = now + asked_for; });
}

FramePace::Moment FramePace::State::next(Moment now) const {
    if (!sent || fresh || now < asked_until) return now;
    if (now < sharpen_until && spare_frames < spare_enough) return now;
    return *sent + heartbeat;
}

FramePace::Moment FramePace::next(Moment now) const {
    return state_.with([&](const State& state) { return state.next(now); });
}

bool FramePace::is_wanted(Moment now) const {
    return next(now) <= now;
}

void FramePace::sent(Moment now) {
    state_.with([&](State& state) {
        state.sent = now;
        state.fresh = false;
    });
}

void FramePace::encoded(std::size_t bytes) {
    state_.with([&](State& state) {
        const bool spare = bytes <= spare_bytes_ && state.debt == 0;
        state.spare_frames = spare ? std::min(state.spare_frames + 1, spare_enough) : 0;
        state.debt = std::max(state.debt + bytes, state.budget) - state.budget;
    });
}

void FramePace::set_budget(std::size_t bytes) {
    state_.with([&](State& state) {
        state.budget = bytes;
        state.debt = std::min(state.debt, bytes * most_debt);
    });
}

}  // namespace svc::streamer

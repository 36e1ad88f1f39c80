#include "instance-agent/streamer/guest_display/frame_feed.h"

#include <utility>

namespace svc::streamer {

int FrameFeed::add(Sink sink) {
    return state_.with([&](State& state) {
        if (state.newest) sink(state.newest);
        state.sinks.emplace(++state.last, std::move(sink));
        return state.last;
    });
}

void FrameFeed::remove(int watcher) {
    state_.with([&](State& state) { state.sinks.erase(watcher); });
}

void FrameFeed::show(const std::shared_ptr<const RawFrame>& frame) {
    state_.with([&](State& state) {
        state.newest = frame;
        for (const auto& [watcher, sink] : state.sinks) sink(frame);
    });
}

bool FrameFeed::is_watched() const {
    return state_.with([](const State& state) { return !state.sinks.empty(); });
}

}  // namespace svc::streamer

#include "instance-agent/streamer/pads/served_pad.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

ServedPad::ServedPad(const DeviceAbilities& abilities, const std::filesystem::path& folder)
    : name_(folder), state_(abilities, name_.description()) {
    name_.publish();
}

// A program that has connected before an event gets it: it may have asked for the state already.
bool ServedPad::report(PadEvents events) {
    const bool came = accept();
    std::erase_if(events,
                  [&](const input_event& event) { return event.type != EV_SYN && !state_.apply(event); });
    if (events.size() < 2) return came;
    state_.store();
    for (const auto& listener : listeners_)
        if (grabbed_by_ == nullptr || grabbed_by_ == listener.get()) listener->send(events);
    return came || has_lost_events();
}

bool ServedPad::accept() try {
    const std::size_t before = listeners_.size();
    while (FileDescriptor connection = name_.accept())
        if (listeners_.size() < most_listeners)
            listeners_.push_back(std::make_unique<PadListener>(std::move(connection)));
    return listeners_.size() > before;
} catch (const Error& e) {
    log::warning("a program cannot be given the gamepad", {{"error", e.what()}});
    return true;
}

void ServedPad::serve() {
    accept();
    std::erase_if(listeners_, [this](const auto& listener) {
        const bool stays = listener->serve([&](bool wanted) { grab(listener.get(), wanted); });
        if (!stays) grab(listener.get(), false);
        return !stays;
    });
}

void ServedPad::grab(PadListener* listener, bool wanted) {
    if (grabbed_by_ != (wanted ? nullptr : listener)) return;
    grabbed_by_ = wanted ? listener : nullptr;
    state_.set_grabbed(wanted);
    state_.store();
}

void ServedPad::await(std::vector<pollfd>& polled) const {
    polled.push_back({name_.fd(), POLLIN, 0});
    for (const auto& listener : listeners_) polled.push_back({listener->fd(), listener->awaited(), 0});
}

bool ServedPad::has_lost_events() const {
    return std::any_of(listeners_.begin(), listeners_.end(),
                       [](const auto& listener) { return listener->has_lost_events(); });
}

}  // namespace svc::streamer

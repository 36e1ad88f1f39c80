#include "libsvc/events/bus_state.h"

#include <algorithm>
#include <iterator>

namespace svc {

Event EventBus::State::render(const Pending& event) const {
    auto text = std::make_shared<std::string>();
    text->reserve(event.metadata.size() + 128);
    text->append(R"({"type":")").append(to_text(event.type));
    text->append(R"(","timestamp":")").append(to_rfc3339(clock.now()));
    text->append(R"(","metadata":)").append(event.metadata);
    const std::uint64_t sequence = window.last() + 1;
    text->append(R"(,"sequence":)").append(std::to_string(sequence)).append("}");
    return {sequence, event.type, std::move(text)};
}

std::shared_ptr<const std::string> EventBus::State::render_gap(std::uint64_t since,
                                                               std::uint64_t first) const {
    const Json gap = Json::object(
        {{"type", "gap"},
         {"timestamp", to_rfc3339(clock.now())},
         {"metadata", Json::object({{"since", since}, {"first", first}, {"last", window.last()}})}});
    return std::make_shared<const std::string>(gap.dump());
}

void EventBus::State::deliver(const Event& event) {
    // A receiver may subscribe: that subscription begins with the next event.
    const std::size_t count = subscribers.size();
    for (std::size_t i = 0; i < count; ++i) {
        Subscriber& subscriber = *subscribers[i];
        if (!subscriber.active || !subscriber.wants(event.type) || event.sequence <= subscriber.after)
            continue;
        bool keep = false;
        try {
            keep = subscriber.receiver(event);
        } catch (...) {
            keep = false;
        }
        if (!keep) end(subscriber);
    }
}

void EventBus::State::deliver_pending() {
    while (!pending.empty()) {
        const Pending next = std::move(pending.front());
        pending.pop_front();
        const Event event = render(next);
        window.add(event);
        deliver(event);
    }
}

bool EventBus::State::is_ahead(std::uint64_t number) const {
    const bool same_term = number >> EventBus::term_shift == window.last() >> EventBus::term_shift;
    return following && same_term && number > window.last();
}

void EventBus::State::add(const std::shared_ptr<Subscriber>& subscriber) {
    subscribers.push_back(subscriber);
    ++active;
}

void EventBus::State::end(Subscriber& subscriber) {
    if (!std::exchange(subscriber.active, false)) return;
    any_ended = true;
    --active;
}

EventBus::State::Subscribers EventBus::State::take_ended() {
    Subscribers ended;
    if (!std::exchange(any_ended, false)) return ended;
    const auto first = std::stable_partition(subscribers.begin(), subscribers.end(),
                                             [](const auto& subscriber) { return subscriber->active; });
    std::move(first, subscribers.end(), std::back_inserter(ended));
    subscribers.erase(first, subscribers.end());
    return ended;
}

}  // namespace svc

#include "libsvc/events/event_bus.h"

#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/events/bus_state.h"

namespace svc {

EventBus::Handle::Handle(std::shared_ptr<State> state, std::weak_ptr<Subscriber> subscriber)
    : state_(std::move(state)), subscriber_(std::move(subscriber)) {}

EventBus::Handle::~Handle() {
    const State::Turn turn(*state_);  // waits for a delivery that is under way
    if (const auto subscriber = subscriber_.lock()) state_->end(*subscriber);
}

EventBus::EventBus(const Clock& clock, EventWindowOptions window)
    : state_(std::make_shared<State>(clock, std::move(window))) {}
EventBus::~EventBus() = default;

void EventBus::publish(EventType type, const Json& metadata) {
    if (state_->following) return;
    try {
        std::string text = metadata.dump();  // outside the lock
        std::string fault;
        {
            const State::Turn turn(*state_);
            state_->pending.push_back({type, std::move(text)});
            if (turn.nested()) return;  // delivered by the call that is on this thread's stack
            state_->deliver_pending();
            fault = state_->window.take_fault();
        }
        if (!fault.empty())
            log::error("events are not kept for the next start while the disk takes no more",
                       {{"error", fault}});
    } catch (...) {
        // Out of memory, or metadata that is no JSON: this event is lost; its cause must not fail for that.
        return;
    }
}

void EventBus::follow() {
    state_->following = true;
}

// A receiver publishes nothing while this manager follows, so none is under way on this thread.
void EventBus::take(Event event) {
    std::string fault;
    {
        const State::Turn turn(*state_);
        if (!state_->following || event.sequence <= state_->window.newest()) return;
        state_->window.add(event);
        state_->deliver(event);
        fault = state_->window.take_fault();
    }
    if (!fault.empty())
        log::error("events are not kept for the next start while the disk takes no more", {{"error", fault}});
}

void EventBus::lead(std::uint64_t term) {
    const State::Turn turn(*state_);
    state_->window.raise(term << term_shift);
    state_->following = false;
}

std::unique_ptr<EventBus::Handle> EventBus::subscribe(const std::set<EventType>& types,
                                                      EventReceiver receiver) {
    auto subscriber = std::make_shared<Subscriber>(types, std::move(receiver));
    auto handle = std::make_unique<Handle>(state_, subscriber);
    const State::Turn turn(*state_);
    state_->add(subscriber);
    return handle;
}

std::unique_ptr<EventBus::Replay> EventBus::replay(const std::set<EventType>& types, EventReceiver receiver,
                                                   std::uint64_t since) {
    auto subscriber = std::make_shared<Subscriber>(types, std::move(receiver));
    return std::make_unique<Replay>(state_, std::move(subscriber), since);
}

std::uint64_t EventBus::last_sequence() const {
    const State::Turn turn(*state_);
    return state_->window.last();
}

std::uint64_t EventBus::newest_sequence() const {
    const State::Turn turn(*state_);
    return state_->window.newest();
}

std::size_t EventBus::subscribers() const {
    return state_->active;
}

}  // namespace svc

#include <algorithm>
#include <utility>

#include "libsvc/events/bus_state.h"

namespace svc {

namespace {

using Events = std::deque<Event>;

// The leader that gave a number may have known less than its successor: what is in between was never an
// event.
bool begins_a_term(std::uint64_t number) {
    return number >> EventBus::term_shift > 0 &&
           (number & ((std::uint64_t{1} << EventBus::term_shift) - 1)) == 1;
}

// Nothing is missing between `position` and the event at `at`, all before which are older than `position`.
bool continues(std::uint64_t position, const Events& events, Events::const_iterator at, std::uint64_t next) {
    if (position + 1 == next) return true;
    return begins_a_term(next) && at != events.begin();
}

}  // namespace

EventBus::Replay::Replay(std::shared_ptr<State> state, std::shared_ptr<Subscriber> subscriber,
                         std::uint64_t since)
    : state_(std::move(state)), subscriber_(std::move(subscriber)), position_(since) {}

EventBus::Replay::~Replay() = default;

// Under the order lock: finding nothing left to read and becoming a subscriber are one step.
EventPage EventBus::Replay::next(std::size_t bytes) {
    EventPage page;
    const State::Turn turn(*state_);
    if (handle_) {
        page.live = true;
        return page;
    }
    read(page, bytes);
    if (page.texts.empty()) go_live(page);
    return page;
}

void EventBus::Replay::read(EventPage& page, std::size_t bytes) {
    if (state_->is_ahead(position_)) return;
    const auto& events = state_->window.events();
    auto at =
        std::upper_bound(events.begin(), events.end(), position_,
                         [](std::uint64_t number, const Event& event) { return number < event.sequence; });
    // A number that was never given: the client has it from a service whose state was lost.
    if (position_ > state_->window.last()) at = events.begin();
    const std::uint64_t next = at == events.end() ? state_->window.last() + 1 : at->sequence;
    if (!continues(position_, events, at, next)) skip_to(page, next);
    position_ = std::max(position_, next - 1);
    for (std::size_t size = 0; at != events.end() && continues(position_, events, at, at->sequence); ++at) {
        const bool wanted = subscriber_->wants(at->type);
        if (wanted && !page.texts.empty() && size + at->text->size() > bytes) return;
        position_ = at->sequence;
        if (!wanted) continue;
        size += at->text->size();
        page.texts.push_back(at->text);
    }
}

void EventBus::Replay::skip_to(EventPage& page, std::uint64_t next) {
    page.texts.push_back(state_->render_gap(position_, next));
    position_ = next - 1;
}

void EventBus::Replay::go_live(EventPage& page) {
    page.live = true;
    subscriber_->after = position_;
    handle_ = std::make_unique<Handle>(state_, subscriber_);
    state_->add(std::exchange(subscriber_, nullptr));
}

}  // namespace svc

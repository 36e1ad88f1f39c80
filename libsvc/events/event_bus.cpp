#include "libsvc/events/event_bus.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::array<EnumName<EventType>, 3> type_names{{{EventType::operation, "operation"},
                                                         {EventType::logging, "logging"},
                                                         {EventType::lifecycle, "lifecycle"}}};

struct Subscriber {
    std::set<EventType> types;
    EventReceiver receiver;
    bool active = true;
};
using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

}  // namespace

std::string_view to_text(EventType type) {
    return enum_text<EventType>(type_names, type);
}

EventType parse_event_type(std::string_view text) {
    if (const auto type = enum_value<EventType>(type_names, text)) return *type;
    throw Error(ErrorCode::invalid_argument, "event type " + quoted(text) + " is not known");
}

// All but the atomics is guarded by the order lock, which is held while receivers run. The thread that runs
// them may call back: it is recognised by its id, changes things at once where that is safe, and else leaves
// them for the end of the delivery.
struct EventBus::State {
    explicit State(const Clock& clock) : clock(clock) {}

    // The order lock, unless this thread has it already.
    class Turn {
      public:
        explicit Turn(State& state) : state_(state), nested_(state.delivering == std::this_thread::get_id()) {
            if (nested_) return;
            lock_ = std::unique_lock(state.order);
            state.delivering = std::this_thread::get_id();
        }
        ~Turn() {
            if (nested_) return;
            Subscribers ended =
                state_.take_ended();  // their receivers are destroyed after the lock is given back
            state_.delivering = std::thread::id();
            lock_.unlock();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        bool nested() const { return nested_; }

      private:
        State& state_;
        bool nested_;
        std::unique_lock<std::mutex> lock_;
    };

    class Registration;
    struct Pending {
        EventType type;
        std::string metadata;  // as JSON text
    };

    Event render(const Pending& event) const;
    void deliver(const Event& event);
    void deliver_pending();
    void count(const Subscriber& subscriber, bool added);
    void end(Subscriber& subscriber);
    Subscribers take_ended();

    const Clock& clock;
    std::mutex order;
    std::atomic<std::thread::id> delivering{};
    std::uint64_t sequence = 0;
    Subscribers subscribers;
    bool any_ended = false;
    std::deque<Pending> pending;
    std::atomic<std::size_t> active{0};
    std::array<std::atomic<std::size_t>, type_names.size()> wanted{};
};

Event EventBus::State::render(const Pending& event) const {
    auto text = std::make_shared<std::string>();
    text->reserve(event.metadata.size() + 128);
    text->append(R"({"type":")").append(to_text(event.type));
    text->append(R"(","timestamp":")").append(to_rfc3339(clock.now()));
    text->append(R"(","metadata":)").append(event.metadata);
    text->append(R"(,"sequence":)").append(std::to_string(sequence)).append("}");
    return {sequence, event.type, std::move(text)};
}

void EventBus::State::deliver(const Event& event) {
    const std::size_t count =
        subscribers.size();  // who subscribes from within a receiver gets the next event
    for (std::size_t i = 0; i < count; ++i) {
        Subscriber& subscriber = *subscribers[i];
        if (!subscriber.active || !subscriber.types.contains(event.type)) continue;
        bool keep = false;
        try {
            keep = subscriber.receiver(event);
        } catch (...) {
            keep = false;  // as good as gone
        }
        if (!keep) end(subscriber);
    }
}

void EventBus::State::deliver_pending() {
    while (!pending.empty()) {
        const Pending next = std::move(pending.front());
        pending.pop_front();
        ++sequence;
        if (!next.metadata.empty()) deliver(render(next));  // empty: nobody wanted it
    }
}

void EventBus::State::count(const Subscriber& subscriber, bool added) {
    const std::size_t step = added ? 1 : static_cast<std::size_t>(-1);
    active += step;
    for (EventType type : subscriber.types) wanted[static_cast<std::size_t>(type)] += step;
}

void EventBus::State::end(Subscriber& subscriber) {
    if (!std::exchange(subscriber.active, false)) return;
    any_ended = true;
    count(subscriber, false);
}

Subscribers EventBus::State::take_ended() {
    Subscribers ended;
    if (!std::exchange(any_ended, false)) return ended;
    const auto first = std::stable_partition(subscribers.begin(), subscribers.end(),
                                             [](const auto& subscriber) { return subscriber->active; });
    std::move(first, subscribers.end(), std::back_inserter(ended));
    subscribers.erase(first, subscribers.end());
    return ended;
}

class EventBus::State::Registration final : public Handle {
  public:
    Registration(std::shared_ptr<State> state, std::weak_ptr<Subscriber> subscriber)
        : state_(std::move(state)), subscriber_(std::move(subscriber)) {}
    ~Registration() override {
        const Turn turn(*state_);  // waits for a delivery that is under way
        if (const auto subscriber = subscriber_.lock()) state_->end(*subscriber);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

  private:
    std::shared_ptr<State> state_;
    std::weak_ptr<Subscriber> subscriber_;  // gone when the receiver has ended it
};

EventBus::EventBus(const Clock& clock) : state_(std::make_shared<State>(clock)) {}
EventBus::~EventBus() = default;

void EventBus::publish(EventType type, const Json& metadata) {
    try {
        std::string text = wanted(type) ? metadata.dump() : std::string();  // outside the lock
        const State::Turn turn(*state_);
        state_->pending.push_back({type, std::move(text)});
        if (!turn.nested()) state_->deliver_pending();  // else by the call that is on this thread's stack
    } catch (...) {
        // Out of memory, or metadata that is no JSON: this event is lost, what it tells of has happened all
        // the same.
        return;
    }
}

std::unique_ptr<EventBus::Handle> EventBus::subscribe(std::set<EventType> types, EventReceiver receiver) {
    auto subscriber = std::make_shared<Subscriber>(Subscriber{std::move(types), std::move(receiver)});
    auto handle = std::make_unique<State::Registration>(state_, subscriber);
    const State::Turn turn(*state_);
    state_->subscribers.push_back(subscriber);
    state_->count(*subscriber, true);
    return handle;
}

std::size_t EventBus::subscribers() const {
    return state_->active;
}

bool EventBus::wanted(EventType type) const {
    return state_->wanted[static_cast<std::size_t>(type)] > 0;
}

}  // namespace svc

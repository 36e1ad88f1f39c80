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
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::array<EnumName<EventType>, 3> type_names{{{EventType::operation, "operation"},
                                                         {EventType::logging, "logging"},
                                                         {EventType::lifecycle, "lifecycle"}}};

unsigned bit(EventType type) {
    return 1U << static_cast<unsigned>(type);
}

struct Subscriber {
    Subscriber(const std::set<EventType>& wanted, EventReceiver receiver) : receiver(std::move(receiver)) {
        for (const EventType type : wanted) types |= bit(type);
    }
    bool wants(EventType type) const { return (types & bit(type)) != 0; }

    unsigned types = 0;
    EventReceiver receiver;
    bool active = true;
};
using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

}  // namespace

std::string_view to_text(EventType type) {
    return enum_text<EventType>(type_names, type);
}

std::optional<EventType> event_type(std::string_view text) {
    return enum_value<EventType>(type_names, text);
}

EventType parse_event_type(std::string_view text) {
    if (const auto type = event_type(text)) return *type;
    throw Error(ErrorCode::invalid_argument, "event type " + quoted(text) + " is not known");
}

// All but the atomics is guarded by the order lock, which is held while receivers run. The thread that runs
// them may call back: it is recognised by its id, changes things at once where that is safe, and else leaves
// them for the end of the delivery.
struct EventBus::State {
    State(const Clock& clock, EventWindowOptions options) : clock(clock), window(std::move(options)) {}

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
    class Reader;
    struct Pending {
        EventType type;
        std::string metadata;  // as JSON text
    };

    Event render(const Pending& event) const;
    std::shared_ptr<const std::string> render_gap(std::uint64_t since, std::uint64_t first) const;
    void deliver(const Event& event);
    void deliver_pending();
    void add(const std::shared_ptr<Subscriber>& subscriber);
    void end(Subscriber& subscriber);
    Subscribers take_ended();

    const Clock& clock;
    std::mutex order;
    std::atomic<std::thread::id> delivering{};
    EventWindow window;
    Subscribers subscribers;
    bool any_ended = false;
    std::deque<Pending> pending;
    std::atomic<std::size_t> active{0};
};

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
    const std::size_t count =
        subscribers.size();  // who subscribes from within a receiver gets the next event
    for (std::size_t i = 0; i < count; ++i) {
        Subscriber& subscriber = *subscribers[i];
        if (!subscriber.active || !subscriber.wants(event.type)) continue;
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
        const Event event = render(next);
        window.add(event);
        deliver(event);
    }
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

// Reads the window under the order lock; finding nothing left there and becoming a subscriber are one step.
class EventBus::State::Reader final : public Replay {
  public:
    Reader(std::shared_ptr<State> state, std::shared_ptr<Subscriber> subscriber, std::uint64_t since)
        : state_(std::move(state)), subscriber_(std::move(subscriber)), position_(since) {}

    EventPage next(std::size_t bytes) override {
        EventPage page;
        const Turn turn(*state_);
        if (registration_) {
            page.live = true;
            return page;
        }
        read(page, bytes);
        if (page.texts.empty()) go_live(page);
        return page;
    }

  private:
    void read(EventPage& page, std::size_t bytes) {
        const auto& events = state_->window.events();
        auto at = std::upper_bound(
            events.begin(), events.end(), position_,
            [](std::uint64_t number, const Event& event) { return number < event.sequence; });
        // A number that was never given: the client speaks of events of another life of the service.
        if (position_ > state_->window.last()) at = events.begin();
        const std::uint64_t next = at == events.end() ? state_->window.last() + 1 : at->sequence;
        if (position_ + 1 != next) skip_to(page, next);
        for (std::size_t size = 0; at != events.end() && at->sequence == position_ + 1; ++at) {
            const bool wanted = subscriber_->wants(at->type);
            if (wanted && !page.texts.empty() && size + at->text->size() > bytes) return;
            position_ = at->sequence;
            if (!wanted) continue;
            size += at->text->size();
            page.texts.push_back(at->text);
        }
    }
    void skip_to(EventPage& page, std::uint64_t next) {
        page.texts.push_back(state_->render_gap(position_, next));
        position_ = next - 1;
    }
    void go_live(EventPage& page) {
        page.live = true;
        registration_ = std::make_unique<Registration>(state_, subscriber_);
        state_->add(std::exchange(subscriber_, nullptr));
    }

    std::shared_ptr<State> state_;
    std::shared_ptr<Subscriber> subscriber_;  // until live
    std::uint64_t position_;                  // all up to here has been read or passed over
    std::unique_ptr<Registration> registration_;
};

EventBus::EventBus(const Clock& clock, EventWindowOptions window)
    : state_(std::make_shared<State>(clock, std::move(window))) {}
EventBus::~EventBus() = default;

void EventBus::publish(EventType type, const Json& metadata) {
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
        // Out of memory, or metadata that is no JSON: this event is lost, what it tells of has happened all
        // the same.
        return;
    }
}

std::unique_ptr<EventBus::Handle> EventBus::subscribe(const std::set<EventType>& types,
                                                      EventReceiver receiver) {
    auto subscriber = std::make_shared<Subscriber>(types, std::move(receiver));
    auto handle = std::make_unique<State::Registration>(state_, subscriber);
    const State::Turn turn(*state_);
    state_->add(subscriber);
    return handle;
}

std::unique_ptr<EventBus::Replay> EventBus::replay(const std::set<EventType>& types, EventReceiver receiver,
                                                   std::uint64_t since) {
    auto subscriber = std::make_shared<Subscriber>(types, std::move(receiver));
    return std::make_unique<State::Reader>(state_, std::move(subscriber), since);
}

std::uint64_t EventBus::last_sequence() const {
    const State::Turn turn(*state_);
    return state_->window.last();
}

std::size_t EventBus::subscribers() const {
    return state_->active;
}

}  // namespace svc

#pragma once
// Internal to this folder: what a bus, its handles and its replays share. Handles may outlive the bus.
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libsvc/events/event_bus.h"

namespace svc {

struct EventBus::Subscriber {
    Subscriber(const std::set<EventType>& wanted, EventReceiver receiver) : receiver(std::move(receiver)) {
        for (const EventType type : wanted) types |= bit(type);
    }
    bool wants(EventType type) const { return (types & bit(type)) != 0; }
    static unsigned bit(EventType type) { return 1U << static_cast<unsigned>(type); }

    unsigned types = 0;
    EventReceiver receiver;
    bool active = true;
    std::uint64_t after = 0;  // has these already
};

// All but the atomics is guarded by the order lock, which is held while receivers run. A receiver may call
// the bus: its thread is recognised by its id, makes changes at once where that is safe, and leaves others
// for the end of the delivery.
struct EventBus::State {
    using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

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

    struct Pending {
        EventType type;
        std::string metadata;  // as JSON text
    };

    Event render(const Pending& event) const;
    std::shared_ptr<const std::string> render_gap(std::uint64_t since, std::uint64_t first) const;
    void deliver(const Event& event);
    void deliver_pending();
    // A client has that number from a manager that hears events sooner than this one.
    bool is_ahead(std::uint64_t number) const;
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
    std::atomic<bool> following{false};
};

}  // namespace svc

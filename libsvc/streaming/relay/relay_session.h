#pragma once
// Internal to this folder: the two sockets of one session, and the messages that wait for its instance.
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/streaming/relay/relay.h"
#include "libsvc/streaming/relay/relay_message.h"

namespace svc {

// What all sessions of a relay share.
struct RelayContext {
    const Clock& clock;
    const RelayLimits limits;
    RelayEvents* events = nullptr;
};

// A client that may connect but whose socket is not open yet.
struct RelayAdmission {
    RelayClient client;
    std::optional<StreamEnd> failure;  // it gets this error when it connects
};

// Sends the reason as a message, then closes: not every client reads the reason of a close frame.
void dismiss(WebSocket& socket, CloseCode code, const StreamEnd& end);

// A client's message as the instance gets it. Throws invalid_argument, forbidden.
std::string of_client(std::string text, std::string_view client);
// What the instance is told of a client.
std::string joined_message(const RelayClient& client);
std::string left_message(std::string_view client, std::string_view reason, bool watches = false);

// Counts the messages of a peer, by the minute. Not thread-safe.
class RelayRate {
  public:
    bool exceeds(std::size_t limit, SteadyTime now);

  private:
    SteadyTime begin_{};
    std::size_t count_ = 0;
};

// Thread-safe. Messages of a socket that is not (any more) the instance's or the client's are ignored. Takes
// its own lock before a WebSocket's; calls RelayEvents in the order of the events, without its lock.
class RelaySession {
  public:
    using Socket = std::shared_ptr<WebSocket>;
    RelaySession(std::string id, std::shared_ptr<const RelayContext> context);

    void expect(RelayClient client);
    RelayAdmission admit(const std::string& client);     // throws forbidden
    RelayClient admit_media(const std::string& client);  // likewise; unavailable: the instance takes no media
    void tell_of_media(const RelayClient& client);
    void fail_client(const StreamEnd& end);
    void end(const StreamEnd& end);  // for good; both peers get the reason
    void stop();                     // for good; the client gets the reason
    void abandon();                  // for good; sends nothing
    bool is_registered() const;
    bool is_watchable() const;
    void tick(SteadyTime now);

    void instance_opened(const Socket& socket);
    void instance_message(const Socket& socket, bool binary, std::string text);
    void instance_has_read(const Socket& socket);
    void instance_closed(const Socket& socket);
    void client_opened(const Socket& socket, RelayAdmission admission);
    void client_message(const Socket& socket, bool binary, std::string text);
    void client_closed(const Socket& socket);

  private:
    using Event = std::function<void(RelayEvents&)>;
    using Text = std::shared_ptr<const std::string>;
    struct Instance {
        Socket socket;
        bool registered = false;
        bool takes_media = false;  // it sends media through the gateway
        bool watchable = false;    // it lets several clients watch
        unsigned unanswered = 0;   // pings
        SteadyTime next_ping{};
        RelayRate rate;
    };
    // The newest client. Without a socket it may still have media.
    struct Client {
        std::string id;
        Socket socket;
        bool told = false;     // the instance was told of it
        bool held = false;     // reading is paused, because the instance does not read
        std::size_t join = 0;  // position in `waiting_` of the message that tells the instance
        RelayRate rate;
    };

    // A client beside the present one, while it signals.
    struct Watcher {
        std::string id;
        Socket socket;
        bool held = false;  // as a client's
        RelayRate rate;
    };
    // Why a client's connection is to end.
    struct Refusal {
        CloseCode code;
        StreamEnd end;
    };

    template <class Work>
    void locked(Work&& work) {
        std::unique_lock lock(mutex_);
        if (end_) return;
        work();
        deliver_events(lock);
    }
    void deliver_events(std::unique_lock<std::mutex>& lock);
    void tell(const Event& event) const;
    void forget_all(const StreamEnd& end);
    void too_late(const Socket& socket) const;
    bool has(const Socket& socket) const { return client_ && client_->socket == socket; }

    void control(const RelayMessage& message);
    void register_instance(const JsonFields& fields);
    void note_status(const JsonFields& fields);
    void relay_to_client(const RelayMessage& message);
    void to_instance(std::string text);
    void flush();
    bool send_to_instance(const Text& text);
    void ping(SteadyTime now);
    void drop_instance();
    void refuse_instance(CloseCode code, std::string_view reason);

    void check_client_message(RelayRate& rate, bool binary, const std::string& text);  // throws Refusal
    void relay_to_instance(std::string text);
    bool instance_is_slow() const;
    bool instance_has_room(std::size_t bytes) const;
    void replace_client(const Socket& socket, const RelayClient& client);
    void hold_client_back();
    void let_client_go_on();
    void refuse_client(CloseCode code, const StreamEnd& end);
    void dismiss_client(CloseCode code, const StreamEnd& end);
    void note_client_gone();
    void client_leaves(std::string_view reason);

    Watcher* watcher_of(const Socket& socket);
    Watcher* watcher_named(const std::string& id);
    void watcher_opened(const Socket& socket, const RelayClient& client);
    void watcher_message(Watcher& watcher, bool binary, std::string text);
    void tell_of_watcher(std::string text);
    void relay_to_watcher(Watcher& watcher, std::string text);
    void dismiss_watcher(const std::string& id, CloseCode code, const StreamEnd& end);
    void forget_watcher(const std::string& id, std::string_view reason);
    void dismiss_watchers(CloseCode code, const StreamEnd& end);
    void lose_watchers();
    void let_watchers_go_on();

    const std::string id_;
    const std::shared_ptr<const RelayContext> context_;
    mutable std::mutex mutex_;
    std::optional<StreamEnd> end_;  // the session is over
    bool announced_ = false;        // the listener was told that the instance is registered
    bool delivering_ = false;
    Instance instance_;
    std::optional<Client> client_;
    std::vector<Watcher> watchers_;
    std::vector<RelayAdmission> expected_;
    std::vector<RelayClient> media_expected_;  // may use media through the gateway, once each
    std::vector<Text>
        waiting_;  // until the instance registers: first about an earlier client, then of this one
    std::vector<Event> events_;
};

}  // namespace svc

#pragma once
// Signalling: passes messages between an instance (master) and its present client (slave), in order, none
// lost, without looking inside (specification: sockets/master, sockets/slave; docs/streaming.md). Keeps
// nothing but memory.
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/base/metrics.h"
#include "libsvc/model/streaming/stream_end.h"
#include "libsvc/model/streaming/stream_session.h"
#include "libsvc/net/websocket/websocket.h"
#include "libsvc/streaming/relay/media_links.h"

namespace svc {

// Told what the sockets of sessions do. Called on I/O threads and on that of tick(), without a lock held, in
// the order in which it happened to the session: must only queue and return. close() and fail_client() cause
// no call.
class RelayEvents {
  public:
    virtual ~RelayEvents() = default;
    virtual void instance_registered(const std::string& session) = 0;
    virtual void instance_lost(const std::string& session) = 0;  // its socket closed, or it missed its pings
    virtual void instance_status(const std::string& session, bool error, const std::string& message) = 0;
    // Media flows, or not any more. `encoder`: the element that encodes the display; "": not told.
    virtual void stream_changed(const std::string& session, bool active, const std::string& encoder) = 0;
    virtual void client_connected(const std::string& session) = 0;     // on the signalling socket
    virtual void client_disconnected(const std::string& session) = 0;  // of the client that is present
};

struct RelayLimits {
    std::size_t queued_messages = 64;     // of a client, until the instance registers; more ends it with 1013
    std::size_t queued_bytes = 1U << 20;  // likewise; and a peer that leaves more unread is ended
    std::size_t message_bytes = 256U << 10;             // of one message; more ends the connection with 1009
    std::size_t client_messages_per_minute = 3000;      // more ends the client's connection with 1008
    std::size_t instance_messages_per_minute = 30'000;  // likewise
    std::size_t signalling_watchers = 8;                // of a session, until their media flows
    Duration ping = std::chrono::seconds(20);           // 3 missed: the instance is lost
};

// A client that may connect, once. `id` is in its token.
struct RelayClient {
    std::string id;
    Json stun_servers;  // array, of the instance's side
    std::optional<Screen> screen;
    bool watches = false;  // beside the one that is present
};

class RelaySession;
struct RelayContext;

// Thread-safe. Sessions it does not know are not_found, "session not found". Its calls do not block, so they
// may be made with a lock held.
class Relay {
  public:
    Relay(const Clock& clock, RelayLimits limits = {});
    ~Relay();
    void listen(RelayEvents& events);  // before anything else; outlives the relay's last call

    void open(const std::string& session);  // known from now on; harmless when it is
    // The newest client takes the place of the one before: that one gets an `error` and close 1000
    // "replaced", and the instance is told when the new one connects. A client that never connects replaces
    // nobody. One that watches takes nobody's place, and nothing of it waits for the instance.
    void expect(const std::string& session, RelayClient client);
    // Sends ctl:terminate to the instance; the client gets an `error` with the reason; closes both sockets.
    void close(const std::string& session, const StreamEnd& end);
    // The client gets an `error` and is disconnected; the session stays. One that is expected gets it when it
    // comes, unless the instance registers before.
    void fail_client(const std::string& session, const StreamEnd& end);
    // The gateway stops: each client that signals gets an `error` and is disconnected. Instances are not told
    // anything; they come back. Nothing is relayed after that.
    void stop();

    // Handlers of the upgraded connections. The client's grant counts once: a second call with the same
    // client, or one that was never expected, throws forbidden "token was used already".
    std::shared_ptr<WebSocketHandler> master(const std::string& session);
    std::shared_ptr<WebSocketHandler> slave(const std::string& session, const std::string& client);

    // The same for media that goes through the gateway: of a client, whose grant counts once, too, and which
    // the instance is told of; and of the instance for that client. Throw not_found, forbidden, unavailable.
    std::shared_ptr<WebSocketHandler> media_of_client(const std::string& session, const std::string& client);
    std::shared_ptr<WebSocketHandler> media_of_instance(const std::string& session,
                                                        const std::string& client);
    MediaCounts media() const { return media_.counts(); }

    bool is_registered(const std::string& session) const;  // false for one it does not know
    bool is_watchable(const std::string& session) const;   // its instance is there, and lets others watch
    std::size_t sessions() const;
    void tick();  // every second: pings, instances that are lost, queues

  private:
    using SessionPointer = std::shared_ptr<RelaySession>;
    SessionPointer find(const std::string& id) const;  // null when it is not known
    SessionPointer get(const std::string& id) const;   // throws not_found
    SessionPointer take(const std::string& id);        // out of the relay; throws not_found
    std::vector<SessionPointer> all() const;

    const std::shared_ptr<RelayContext> context_;
    MediaLinks media_;
    mutable std::shared_mutex mutex_;  // held for look-ups only: messages do not pass through here
    std::unordered_map<std::string, SessionPointer> sessions_;
};

}  // namespace svc

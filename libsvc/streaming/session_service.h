#pragma once
// The rules of streaming sessions (facts 3.3 to 3.5). The one place that decides about them.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/id.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/model/streaming/stream_session.h"
#include "libsvc/store/collection.h"
#include "libsvc/streaming/ice_servers.h"
#include "libsvc/streaming/regions.h"
#include "libsvc/streaming/relay.h"
#include "libsvc/streaming/tokens.h"

namespace svc {

template <>
struct RecordTraits<StreamSession> {
    static constexpr std::string_view noun = "session";
    static constexpr std::string_view prefix = "stream-sessions/";
    static const std::string& id(const StreamSession& session) { return session.id; }
    static std::string name(const StreamSession&) { return ""; }
    static Json to_store(const StreamSession& session) { return session_to_store(session); }
    static StreamSession from_store(const Json& stored) { return session_from_store(stored); }
};

struct SessionLimits {
    Duration launch = std::chrono::minutes(5);      // then error "Container failed to start: ..."
    Duration streamer = std::chrono::seconds(30);   // of an instance that runs, to connect; then error
    Duration deletion = std::chrono::minutes(2);    // then error, unless forced
    Duration keep = std::chrono::hours(1);          // of terminated records that are not ephemeral
    Duration keep_failed = std::chrono::hours(24);  // of sessions in error; then they end
    // Of an instance that streams; then nobody watches any more.
    Duration silent = std::chrono::minutes(2);
    Duration client_token = std::chrono::minutes(5);
    // Of a session for which none was told, without a client; 0: it does not end by itself.
    Duration idle = std::chrono::minutes(30);
    std::size_t sessions = 100'000;
    std::size_t creations_per_minute = 0;  // of one account; 0: no limit
};

struct SessionServiceConfig {
    IceConfig ice;
    std::string instance_url;  // "wss://host:port" where instances find this gateway
    // How instances know the gateway; all "": they connect without TLS.
    std::string fingerprint;  // of the certificate everybody sees: for streamers that know no `server_name`
    std::string server_name, server_fingerprint;  // whom to ask for by TLS, and that one's certificate
    SessionLimits limits;
    // Whether an owner is still there: sessions of others end. Null: all are. Called by any thread.
    std::function<bool(const std::string& owner)> has_owner = nullptr;
};

// Who asks: sees its own sessions alone; "" is the local socket and sees all. The key of an account, not its
// name, which another account may get.
using SessionOwner = std::string;

// What a client needs to connect.
struct SessionGrant {
    StreamSession session;
    std::string
        path;  // "/1.0/sessions/<id>/sockets/slave?token=..."; the caller puts the scheme and host before it
    Json stun_servers;
};

struct SessionDeletionError {
    std::string id, message;
    ErrorCode code;
};
struct SessionDeletions {
    std::vector<std::string> deleted;
    std::vector<SessionDeletionError> errors;
};

// Thread-safe. What it throws names the object; texts are in facts 3.3 to 3.5.
class SessionService final : public RelayEvents, public RegionEvents {
  public:
    struct Parts {
        Store& store;
        Clock& clock;
        IdSource& ids;
        Regions& regions;
        Relay& relay;
        const TokenMint& mint;
    };
    SessionService(Parts parts, SessionServiceConfig config);
    ~SessionService() override;
    // After Regions::start and Relay::listen with this object: opens what the store has, continues what was
    // under way.
    void start();
    void stop();  // no more work; what is under way is continued by the next start
    void use_fingerprint(std::string fingerprint);  // of a new certificate: for launches from now on

    SessionGrant create(const SessionOwner& owner, const SessionCreate& request);
    SessionGrant join(const SessionOwner& owner, std::string_view id, const SessionJoin& request);
    StreamSession get(const SessionOwner& owner, std::string_view id) const;
    struct Page {
        std::vector<StreamSession> sessions;
        std::size_t total = 0;
    };
    Page list(const SessionOwner& owner, const SessionQuery& query) const;
    struct Deletion {
        bool force = false;  // forget it even if its region does not answer
        bool sync = false;   // return when it is gone; blocks
    };
    void remove(const SessionOwner& owner, std::string_view id, Deletion how);
    SessionDeletions remove_all(const SessionOwner& owner, const std::vector<std::string>& ids, Deletion how);
    // Begins all of them and returns. `done` is called once, by any thread: when they are gone, when the
    // deletion limit is over, or by stop(). Throws invalid_argument when too many calls of an account wait.
    using Deleted = std::function<void(const SessionDeletions&)>;
    void remove_later(const SessionOwner& owner, const std::vector<std::string>& ids, bool force,
                      Deleted done);

    // For the socket routes. Throws not_found (session) and forbidden (token).
    std::shared_ptr<WebSocketHandler> socket(std::string_view id, SocketRole role, std::string_view token);

    std::map<SessionStatus, std::size_t> counts() const;
    void end_ownerless();  // at once; also done by tick()
    void tick();           // every second: idle times, launch and deletion limits, records to be dropped

    void instance_registered(const std::string& session) override;
    void instance_lost(const std::string& session) override;
    void instance_status(const std::string& session, bool error, const std::string& message) override;
    void stream_changed(const std::string& session, bool active) override;
    void client_connected(const std::string& session) override;
    void client_disconnected(const std::string& session) override;
    void region_answers(const std::string& region) override;
    void instance_changed(const std::string& region, const std::string& instance_id) override;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc

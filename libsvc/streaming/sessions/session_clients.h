#pragma once
// The clients of sessions: who may connect, until when, and whether the instance of one that watches is
// there.
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/id.h"
#include "libsvc/streaming/relay/relay.h"
#include "libsvc/streaming/sessions/session_config.h"
#include "libsvc/streaming/sessions/session_records.h"
#include "libsvc/streaming/tokens.h"

namespace svc {

// Thread-safe.
class SessionClients {
  public:
    struct Parts {
        SessionRecords& records;
        Relay& relay;
        Clock& clock;
        IdSource& ids;
        const TokenMint& mint;
        const SessionServiceConfig& config;
    };
    explicit SessionClients(Parts parts) : parts_(parts) {}

    ExpectedClient make_client(std::optional<Screen> screen);  // with a new id; the caller stores it
    // Lets `client` connect and returns what it needs. `client` must be stored in the session's record,
    // unless it watches.
    SessionGrant grant(const StreamSession& session, const ExpectedClient& client);
    Json let_in(const std::string& session, const ExpectedClient& client);  // returns its ICE servers
    void use_grant(const std::string& session, const std::string& client);  // when its socket opens

    // Starts the time limit of the only client of a non-joinable session. `is_there`: its socket is open.
    void expect(const std::string& session, bool is_there);
    void give_time(const std::string& session);  // restarts the limit of a client whose socket is open
    void forget(const std::string& session);
    void forget_unkept();  // drops clients out of time whose session has no record
    // Nothing: no client has exceeded the limit. True: the client is connected, but got no answer in time.
    // False: the client did not connect in time, or it left and did not come back in time.
    std::optional<bool> overdue(const StreamSession& session) const;

    // Whether the instance of a connected client has been away for longer than the limit. To be called
    // periodically: the time begins with the first call that finds the instance away.
    bool has_lost_instance(const StreamSession& session);

  private:
    struct Expected {
        SteadyTime until{};
        bool is_there = false;  // on the signalling socket; its time runs when the instance is ready
    };

    const Parts parts_;
    Guarded<std::map<std::string, Expected>> expected_;  // by session
    Guarded<std::map<std::string, SteadyTime>> away_;    // since when the instance has been away, by session
};

}  // namespace svc

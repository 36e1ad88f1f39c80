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

    ExpectedClient make_client(std::optional<Screen> screen);  // with a new id; the record is to have it
    // Lets a client connect that is in the session's record, and returns what it needs.
    SessionGrant grant(const StreamSession& session, const ExpectedClient& client);
    Json let_in(const std::string& session, const ExpectedClient& client);  // returns its STUN servers
    void use_grant(const std::string& session, const std::string& client);  // before its socket opens

    // Of sessions that are not joinable: their only client has no media yet.
    void expect(const std::string& session, bool is_there);
    void give_time(const std::string& session);  // to a client that is there: it can be answered from now on
    void forget(const std::string& session);
    void forget_unkept();  // of sessions that were never stored
    // Nothing: in time. True: it is there, and was not answered in time. False: it did not come, or left.
    std::optional<bool> overdue(const StreamSession& session) const;

    // The instance of a client that watches has been away for longer than the limit. To be asked again and
    // again: the time begins with the first question.
    bool has_lost_instance(const StreamSession& session);

  private:
    struct Expected {
        Time until{};
        bool is_there = false;  // on the signalling socket; its time runs when the instance is ready
    };

    const Parts parts_;
    Guarded<std::map<std::string, Expected>> expected_;  // by session
    Guarded<std::map<std::string, SteadyTime>> away_;    // since when the instance has been away, by session
};

}  // namespace svc

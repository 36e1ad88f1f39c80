#pragma once
// Streaming sessions: the rules of the specification's "Stream gateway routes" (docs/streaming.md). The one
// place that decides about sessions; the classes it holds each own a part of their state.
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/id.h"
#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/relay/relay.h"
#include "libsvc/streaming/sessions/creation_limit.h"
#include "libsvc/streaming/sessions/deletion_waits.h"
#include "libsvc/streaming/sessions/instance_observer.h"
#include "libsvc/streaming/sessions/instance_remover.h"
#include "libsvc/streaming/sessions/instance_user_data.h"
#include "libsvc/streaming/sessions/region_comparison.h"
#include "libsvc/streaming/sessions/session_claims.h"
#include "libsvc/streaming/sessions/session_clients.h"
#include "libsvc/streaming/sessions/session_config.h"
#include "libsvc/streaming/sessions/session_events.h"
#include "libsvc/streaming/sessions/session_instance_launcher.h"
#include "libsvc/streaming/sessions/session_records.h"
#include "libsvc/streaming/sessions/session_requests.h"
#include "libsvc/streaming/sessions/session_states.h"
#include "libsvc/streaming/sessions/session_timers.h"
#include "libsvc/streaming/sessions/session_work.h"
#include "libsvc/streaming/sessions/use_reports.h"
#include "libsvc/streaming/tokens.h"

namespace svc {

// Thread-safe. The texts of its errors are in the specification and docs/streaming.md; they name the object.
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
    using Page = SessionPage;
    using Deletion = SessionDeletion;
    using Deleted = SessionsDeleted;

    SessionService(Parts parts, SessionServiceConfig config);
    ~SessionService() override;
    SessionService(const SessionService&) = delete;
    SessionService& operator=(const SessionService&) = delete;

    // After Regions::start and Relay::listen with this object: opens the sessions of the store and continues
    // their work.
    void start();
    void stop();  // no more work; what is under way is continued by the next start
    // Sets the fingerprint that later launches get, after a certificate change.
    void use_fingerprint(std::string fingerprint) { user_data_.use_fingerprint(std::move(fingerprint)); }

    SessionGrant create(const SessionOwner& owner, const SessionCreate& request);
    SessionGrant join(const SessionOwner& owner, std::string_view id, const SessionJoin& request);
    StreamSession get(const SessionOwner& owner, std::string_view id) const;
    Page list(const SessionOwner& owner, const SessionQuery& query) const {
        return records_.list(owner, query);
    }
    // Forgets a session whose record cannot be read: nothing is known of its instance. False: there is none.
    bool remove_unreadable(std::string_view id) { return records_.remove_unreadable(id); }
    void remove(const SessionOwner& owner, std::string_view id, Deletion how);
    SessionDeletions remove_all(const SessionOwner& owner, const std::vector<std::string>& ids, Deletion how);
    // Begins all of them and returns. `done` is called once, by any thread: when they are gone, when the
    // deletion limit is over, or by stop(). Throws invalid_argument when too many calls of an account wait.
    void remove_later(const SessionOwner& owner, const std::vector<std::string>& ids, bool force,
                      Deleted done);

    // For the socket routes. Throws not_found (session) and forbidden (token).
    std::shared_ptr<WebSocketHandler> socket(std::string_view id, SocketRole role, std::string_view token);

    // The same for media through the gateway. `client`: of an instance's socket, whom it is for; else the
    // token names it.
    std::shared_ptr<WebSocketHandler> media_socket(std::string_view id, std::string_view token,
                                                   const std::string& client);

    MediaCounts media() const { return relay_.media(); }
    std::map<SessionStatus, std::size_t> counts() const { return records_.index().counts(); }
    void end_ownerless() { timers_.end_ownerless(); }  // at once; also done by tick()
    void tick();  // every second: idle times, launch and deletion limits, records to be dropped

    void instance_registered(const std::string& session) override;
    void instance_lost(const std::string& session) override;
    void instance_status(const std::string& session, bool error, const std::string& message) override;
    void stream_changed(const std::string& session, bool active, const std::string& encoder) override;
    void client_connected(const std::string& session) override;
    void client_disconnected(const std::string& session) override;
    void region_answers(const std::string& region) override;
    void instance_changed(const std::string& region, const std::string& instance_id) override;

  private:
    void open_again(const StreamSession& session);
    StreamSession new_session(const SessionOwner& owner, const SessionCreate& request);
    SessionPtr commit_new(const StreamSession& session);
    SessionDeletions begin_removals(const SessionOwner& owner, const std::vector<std::string>& ids,
                                    bool force);
    SessionGrant let_watch(const StreamSession& session);
    SessionPtr open_session(std::string_view id) const;  // throws not_found
    void begin_removal(const SessionOwner& owner, std::string_view id, bool force);
    void work(const std::string& id, bool is_fresh);

    const SessionServiceConfig config_;
    Clock& clock_;
    IdSource& ids_;
    Regions& regions_;
    Relay& relay_;
    const TokenMint& mint_;
    std::stop_source stop_;
    SessionRecords records_;
    SessionClaims claims_;
    CreationLimit creations_;
    InstanceUserData user_data_;
    SessionClients clients_;
    DeletionWaits waits_;
    SessionStates states_;
    SessionInstanceLauncher launcher_;
    InstanceObserver observer_;
    InstanceRemover remover_;
    RegionComparison comparison_;
    SessionTimers timers_;
    UseReports uses_;
    SessionWork work_;      // last but one: its threads use all of the above
    SessionEvents events_;  // last: likewise
};

}  // namespace svc

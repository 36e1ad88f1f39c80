#pragma once
// Internal to the session service: its state, shared by its source files.
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/streaming/region_threads.h"
#include "libsvc/streaming/session_index.h"
#include "libsvc/streaming/session_service.h"

namespace svc {

// How long others leave the work to whoever claimed it; claims of work that goes on are renewed in time.
inline constexpr std::chrono::seconds claim_time{15};

// What others wrote, fit to be kept and listed: one line, not long, no control characters.
std::string fit_reason(const std::string& reason);

// The relay forgets a session that ended, whoever ended it.
template <class Call>
void if_known(Call&& call) {
    try {
        call();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
    }
}

// Every decision is a change of the record, made by compare-and-set; what follows from it (a launch, a
// deletion) is work that reads the record, so that it can be begun again at any time, by any gateway.
class SessionService::Implementation {
  public:
    Implementation(Parts parts, SessionServiceConfig config);
    ~Implementation();

    // session_service.cpp
    void start();
    void stop();
    StreamSession get(const SessionOwner& owner, std::string_view id) const;
    Page list(const SessionOwner& owner, const SessionQuery& query) const;
    void use_fingerprint(std::string fingerprint);
    std::map<SessionStatus, std::size_t> counts() const;

    // session_clients.cpp
    SessionGrant create(const SessionOwner& owner, const SessionCreate& request);
    SessionGrant join(const SessionOwner& owner, std::string_view id, const SessionJoin& request);
    std::shared_ptr<WebSocketHandler> socket(std::string_view id, SocketRole role, std::string_view token);
    void client_came(const std::string& id);
    void client_went(const std::string& id);

    // session_deletion.cpp
    void remove(const SessionOwner& owner, std::string_view id, Deletion how);
    SessionDeletions remove_all(const SessionOwner& owner, const std::vector<std::string>& ids, Deletion how);
    void remove_later(const SessionOwner& owner, const std::vector<std::string>& ids, bool force,
                      Deleted done);

    // session_timers.cpp
    void tick();
    void end_ownerless();

    // session_moves.cpp. Events of one session are applied in their order, by a thread of its own; those that
    // could not be stored again later.
    using Event = std::function<void()>;
    void hand_over(const std::string& id, Event event);
    void activate(const std::string& id);
    void fail(const std::string& id, const std::string& reason);
    void stream_began(const std::string& id);
    // Unless others may join, and if it `may_end`, so does the session.
    void stream_ended(const std::string& id, const StreamEnd& end, bool may_end = true);

    // session_work.cpp: does soon what the record says is to be done, one at a time for each session.
    void schedule(const std::string& id);

    // session_regions.cpp
    void region_answers(const std::string& region);
    void instance_changed(const std::string& region, const std::string& instance);

  private:
    using Ptr = std::shared_ptr<const StreamSession>;
    using Change = std::function<bool(StreamSession&)>;  // false: nothing is to be changed
    // The only client that a session can have has no media yet.
    struct Expected {
        Time until{};
        bool is_there = false;  // it signals; this takes no time until the instance is ready
    };
    // Since when an instance was seen running that has not connected yet.
    struct Running {
        std::string instance;
        SteadyTime since{};
    };
    // A caller that is told when sessions are gone.
    struct Wait {
        SessionOwner owner;
        SteadyTime deadline{};
        Deleted done;
        std::vector<std::string> begun;
        std::size_t open = 0;     // of them
        SessionDeletions result;  // what failed until now
    };
    using WaitPtr = std::shared_ptr<Wait>;
    struct Waits {
        std::map<std::string, std::vector<WaitPtr>> by_session;
        std::map<SessionOwner, std::size_t> by_owner;
    };
    // What is under way for one session.
    struct Duty {
        bool running = false;
        bool again = false;  // something new was said meanwhile
        bool fresh = false;  // its instance was never asked for
        int failures = 0;
        SteadyTime due{};
    };

    // session_service.cpp. Throws invalid_argument and not_found.
    Ptr find_owned(const SessionOwner& owner, std::string_view id) const;
    void open_again(const StreamSession& session);

    // session_clients.cpp
    void admit(const SessionOwner& owner);
    StreamSession new_session(const SessionOwner& owner, const SessionCreate& request);
    Ptr commit_new(const StreamSession& session);
    ExpectedClient new_client(std::optional<Screen> screen);
    SessionGrant grant(const StreamSession& session, const ExpectedClient& client);
    Json let_in(const std::string& session, const ExpectedClient& client);
    void use_grant(const std::string& session, const std::string& client);
    void expect_client(const std::string& id, bool is_there);
    void expect_nobody(const std::string& id);
    Json user_data(const StreamSession& session) const;

    // session_moves.cpp
    void apply(const std::string& id, const Event& event);
    bool applied(const std::string& id, const Event& event) const;
    void apply_late(const std::string& id);
    void retry_events();
    bool change(std::string_view id, const Change& how);  // false: the record is gone, or stays as it is
    void set_status(StreamSession& session, SessionStatus status, const std::string& reason) const;
    void note_failure(const std::string& id, const std::string& reason);
    bool begin_end(StreamSession& session, const std::string& reason) const;
    void give_client_time(const std::string& id);
    void terminate(const std::string& id, const StreamEnd& end);
    static bool has_moved(const StreamSession& seen, const StreamSession& now);  // or has another instance
    void fail_instance(const StreamSession& seen, const std::string& given, bool gone);
    void after_end(const std::string& id, const StreamEnd& end);

    // session_work.cpp
    bool is_working(const std::string& id) const;
    void schedule_due(const std::string& id);
    void post(const std::string& id);
    void run(const std::string& id);
    bool attempt(const std::string& id, bool fresh);
    void work(const std::string& id, bool fresh);
    Ptr claim(const std::string& id);
    Management& answering(const std::string& region) const;
    std::vector<StreamInstance> tagged(Management& management, const std::string& id) const;
    void launch(const std::string& id, bool fresh);
    void take_instance(const StreamSession& session, const StreamLaunched& launched);
    void adopt(const StreamSession& session, const std::vector<StreamInstance>& found);
    void remove_instances(const std::string& id);
    void remove_at(Management& management, const StreamSession& session);

    // session_deletion.cpp
    SessionDeletions begin_removals(const SessionOwner& owner, const std::vector<std::string>& ids,
                                    bool force);
    static void answer(Wait& wait);
    void begin_removal(const SessionOwner& owner, std::string_view id, bool force);
    void forget(const std::string& id);
    void await_end(const WaitPtr& wait);
    std::optional<SessionDeletionError> failure_of(const StreamSession& session, SteadyTime deadline) const;
    void finish(const std::string& id, const StreamEnd& end);  // its instance is gone
    void drop(const std::string& id, const StreamEnd& end);
    void tell_waiting(const std::string& id);
    void tell_all_waiting();

    // session_regions.cpp
    void resync(const std::string& region);
    std::map<std::string, std::vector<StreamInstance>> instances_of(const std::string& region);
    void end_again(const StreamSession& session);
    void reconcile(const StreamSession& session, const std::vector<StreamInstance>& found);
    void note_running(const StreamSession& session, const StreamInstance& instance);
    void check(const StreamSession& session);
    void observe(const StreamSession& session, const std::optional<StreamInstance>& instance);
    void instance_stopped(const StreamSession& session);
    void instance_missing(const StreamSession& session);
    void instance_gone(const StreamSession& session);
    void launch_refused(const StreamSession& session, const std::string& reason);
    std::string next_region(const StreamSession& session) const;  // "": there is none
    void remove_left_behind(const std::string& region, const std::vector<StreamInstance>& found);

    // session_timers.cpp
    void look_at(const StreamSession& session);
    void look_at_ending(const StreamSession& session);
    void look_at_live(const StreamSession& session);
    std::string start_failure(const StreamSession& session) const;
    StreamEnd idle_end(const StreamSession& session) const;
    std::string why_not_started(const StreamSession& session) const;
    bool has_no_streamer(const StreamSession& session) const;
    bool is_ownerless(const StreamSession& session) const;
    bool is_silent(const StreamSession& session);
    void end_media(const StreamSession& session);
    bool is_deserted(const StreamSession& session, Time now) const;
    void end_deserted(const StreamSession& session);
    void retry_failed();
    void forget_clients();
    void forget_running();
    void renew_claims(const std::vector<Ptr>& sessions);
    void renew(std::span<const std::string> ids);

    Store& store_;
    SessionIndex index_;  // of the records: before them
    Collection<StreamSession> records_;
    Clock& clock_;
    IdSource& ids_;
    Regions& regions_;
    Relay& relay_;
    const TokenMint& mint_;
    const SessionServiceConfig config_;
    Guarded<std::string> fingerprint_;
    const std::string self_;  // what claims are made with
    std::atomic<bool> stopping_{false};
    std::stop_source stop_;  // of what waits in regions
    Guarded<std::map<std::string, Duty>> duties_;
    Guarded<std::map<std::string, Expected>> expected_;  // clients; beyond their time they are gone for good
    Guarded<std::map<std::string, SteadyTime>> silent_;  // since when streaming instances have been away
    Guarded<std::map<std::string, Running>> running_;    // of sessions that are `created`
    Guarded<std::map<std::string, std::deque<SteadyTime>>> creations_;  // of the last minute, by account
    Guarded<std::set<std::string>> unknown_regions_;                    // asked for their instances in vain
    Guarded<Waits> waits_;
    Guarded<std::map<std::string, std::deque<Event>>> late_events_;  // by session, each in their order
    // Last: end first.
    std::vector<std::unique_ptr<ThreadPool>> events_;
    RegionThreads calls_;
    RegionThreads removals_;
};

}  // namespace svc

#include "libsvc/streaming/sessions/session_service.h"

#include <future>
#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::size_t max_user_data = 10'240;  // bytes, of the management service

}  // namespace

SessionService::SessionService(Parts parts, SessionServiceConfig config)
    : config_(std::move(config)),
      clock_(parts.clock),
      ids_(parts.ids),
      regions_(parts.regions),
      relay_(parts.relay),
      mint_(parts.mint),
      records_(parts.store),
      claims_(records_, clock_, ids_.uuid()),
      creations_(config_.limits.creations_per_minute, clock_),
      user_data_(config_, mint_),
      clients_({records_, relay_, clock_, ids_, mint_, config_}),
      waits_(records_, clock_, stop_.get_token()),
      states_({records_, clients_, waits_, work_, relay_, clock_}),
      launcher_({records_, claims_, states_, work_, regions_, user_data_, clock_, stop_.get_token()}),
      observer_({records_, claims_, states_, launcher_, regions_, relay_, clock_}),
      remover_({claims_, states_, regions_, stop_.get_token()}),
      comparison_({records_, states_, work_, launcher_, observer_, remover_, regions_, stop_.get_token()}),
      timers_({records_, claims_, clients_, states_, work_, observer_, regions_, relay_, clock_, config_}),
      uses_(records_, regions_, clock_),
      work_(records_, clock_, stop_.get_token(),
            [this](const std::string& id, bool is_fresh) { work(id, is_fresh); }),
      events_(stop_.get_token()) {}

SessionService::~SessionService() {
    stop();
}

// Sessions with an instance are compared with it as soon as their region answers.
void SessionService::start() {
    for (const SessionPtr& session : records_.all()) {
        if (session->removal_due)
            work_.schedule(session->id);
        else if (session->status != SessionStatus::terminated)
            open_again(*session);
    }
}

// Nobody is connected any more. Media of a client that watches goes on; a client that was let in may still
// connect.
void SessionService::open_again(const StreamSession& session) {
    relay_.open(session.id);
    if (session.expected && session.expected->until > clock_.now())
        clients_.let_in(session.id, *session.expected);
    if (session.status == SessionStatus::created && session.container_id.empty()) work_.schedule(session.id);
    if (!session.joinable && !session.client_connected) clients_.expect(session.id, false);
}

void SessionService::stop() {
    stop_.request_stop();
    waits_.tell_all();
    uses_.stop();
    work_.stop();
    events_.stop();
}

SessionGrant SessionService::create(const SessionOwner& owner, const SessionCreate& request) {
    if (stop_.stop_requested()) throw Error(ErrorCode::unavailable, "the gateway is stopping");
    if (records_.size() >= config_.limits.sessions)
        throw Error(ErrorCode::invalid_argument, "Too many sessions");
    creations_.admit(owner);
    const StreamSession session = new_session(owner, request);
    if (user_data_.of(session).dump().size() > max_user_data)
        throw_invalid("extra_data", "the instance's user data would be larger than 10 KiB");
    if (!session.joinable) clients_.expect(session.id, false);
    const SessionPtr record = commit_new(session);
    log::info("session created", {{"session", session.id},
                                  {"account", owner.substr(0, owner.find('/'))},
                                  {"app", session.app},
                                  {"region", session.region}});
    SessionGrant granted = clients_.grant(*record, *session.expected);
    work_.schedule(session.id);
    return granted;
}

StreamSession SessionService::new_session(const SessionOwner& owner, const SessionCreate& request) {
    const auto open_in = [this](const std::string& region) { return records_.index().open_in(region); };
    StreamSession session;
    session.region = regions_.choose({request.app, request.app_version, request.region}, open_in);
    session.any_region = request.region.empty();
    session.id = ids_.object_id();
    session.account = owner;
    session.app = request.app;
    session.app_version = request.app_version;
    session.joinable = request.joinable;
    const auto idle = std::chrono::duration_cast<std::chrono::minutes>(config_.limits.idle);
    session.idle_time_min = request.idle_time_min.value_or(static_cast<int>(idle.count()));
    session.ephemeral = request.ephemeral;
    session.extra_data = request.extra_data;
    session.screen = request.screen;
    session.created_at = session.changed_at = session.client_left_at = clock_.now();
    session.expected = clients_.make_client({});
    claims_.take(session);  // so that no other gateway launches
    return session;
}

// Any thread that sees the record may launch or end the session at once: the relay and the fresh work must be
// there before it.
SessionPtr SessionService::commit_new(const StreamSession& session) {
    work_.add(session.id);
    try {
        relay_.open(session.id);
        return records_.create(session);
    } catch (...) {
        work_.cancel(session.id);
        ignore_not_found([&] { relay_.close(session.id, "session was not created"); });
        clients_.forget(session.id);
        throw;
    }
}

SessionGrant SessionService::join(const SessionOwner& owner, std::string_view id,
                                  const SessionJoin& request) {
    const SessionPtr session = records_.find_owned(owner, id);
    if (session->status != SessionStatus::active)
        throw Error(ErrorCode::invalid_argument, "Session is not active");
    if (!session->joinable) throw Error(ErrorCode::invalid_argument, "Session is not joinable");
    if (request.watches) return let_watch(*session);
    std::optional<Screen> screen;
    if (request.screen) screen = request.screen->applied_to(session->screen);
    const ExpectedClient client = clients_.make_client(screen);
    records_.change(id, [&](StreamSession& record) {
        record.screen = screen.value_or(record.screen);
        record.expected = client;
        return true;
    });
    log::info("client let in", {{"session", session->id}, {"client", client.id}});
    return clients_.grant(*records_.find_owned(owner, id), client);
}

// Its token is valid at this gateway until it restarts; the record keeps that of the newest client that
// steers.
SessionGrant SessionService::let_watch(const StreamSession& session) {
    if (!relay_.is_watchable(session.id))
        throw Error(ErrorCode::invalid_argument,
                    "Session cannot be watched: its streamer is away or too old");
    ExpectedClient client = clients_.make_client({});
    client.watches = true;
    log::info("watcher let in", {{"session", session.id}, {"client", client.id}});
    return clients_.grant(session, client);
}

StreamSession SessionService::get(const SessionOwner& owner, std::string_view id) const {
    return *records_.find_owned(owner, id);
}

void SessionService::remove(const SessionOwner& owner, std::string_view id, Deletion how) {
    if (!how.sync || how.force) return begin_removal(owner, id, how.force);
    const SessionDeletions result = remove_all(owner, {std::string(id)}, how);
    if (!result.errors.empty()) throw Error(result.errors.front().code, result.errors.front().message);
}

SessionDeletions SessionService::remove_all(const SessionOwner& owner, const std::vector<std::string>& ids,
                                            Deletion how) {
    if (!how.sync || how.force) return begin_removals(owner, ids, how.force);
    std::promise<SessionDeletions> gone;
    remove_later(owner, ids, false, [&gone](const SessionDeletions& result) { gone.set_value(result); });
    return gone.get_future().get();
}

void SessionService::remove_later(const SessionOwner& owner, const std::vector<std::string>& ids, bool force,
                                  Deleted done) {
    waits_.check_room(owner);
    waits_.add(owner, config_.limits.deletion, begin_removals(owner, ids, force), std::move(done));
}

SessionDeletions SessionService::begin_removals(const SessionOwner& owner,
                                                const std::vector<std::string>& ids, bool force) {
    SessionDeletions result;
    std::set<std::string> known;
    for (const std::string& id : ids) {
        if (!known.insert(id).second) continue;
        try {
            begin_removal(owner, id, force);
            result.deleted.push_back(id);
        } catch (const Error& e) {
            result.errors.push_back({id, e.what(), e.code()});
        }
    }
    return result;
}

void SessionService::begin_removal(const SessionOwner& owner, std::string_view id, bool force) {
    const StreamEnd deleted{"Deleted by request", end_code::deleted};
    const SessionPtr session = records_.find_owned(owner, id);
    if (session->status == SessionStatus::terminated && !session->removal_due)
        return states_.drop(session->id, deleted);
    force ? states_.forget(session->id) : states_.terminate(session->id, deleted);
}

std::shared_ptr<WebSocketHandler> SessionService::socket(std::string_view id, SocketRole role,
                                                         std::string_view token) {
    const SocketGrant grant = mint_.read_socket_token(token, clock_.now());
    if (grant.session != id || grant.role != role)
        throw Error(ErrorCode::forbidden, "token is not for this socket");
    const SessionPtr session = open_session(id);
    if (role == SocketRole::master) return relay_.master(session->id);
    clients_.use_grant(session->id, grant.client);
    return relay_.slave(session->id, grant.client);
}

std::shared_ptr<WebSocketHandler> SessionService::media_socket(std::string_view id, std::string_view token,
                                                               const std::string& client) {
    const SocketGrant grant = mint_.read_socket_token(token, clock_.now());
    if (grant.session != id || grant.role == SocketRole::slave)
        throw Error(ErrorCode::forbidden, "token is not for this socket");
    const SessionPtr session = open_session(id);
    if (grant.role == SocketRole::master) return relay_.media_of_instance(session->id, client);
    return relay_.media_of_client(session->id, grant.client);
}

SessionPtr SessionService::open_session(std::string_view id) const {
    SessionPtr session = records_.find(id);
    if (!session || session->removal_due || session->status == SessionStatus::terminated)
        throw Error(ErrorCode::not_found, "session not found");
    return session;
}

// What the record says is to be done at the region.
void SessionService::work(const std::string& id, bool is_fresh) {
    const SessionPtr session = records_.find(id);
    if (!session) return;
    if (session->removal_due) return remover_.remove(id);
    if (session->status == SessionStatus::terminated) return;
    if (!session->container_id.empty()) return observer_.check(*session);
    if (session->status == SessionStatus::created) return launcher_.launch(id, is_fresh);
    const auto found = tagged(answering(regions_, session->region), id);
    found.empty() ? observer_.note_missing(*session) : launcher_.adopt(*session, found);
}

void SessionService::tick() {
    if (stop_.stop_requested()) return;
    timers_.tick();
    uses_.tick();
    events_.retry();
    work_.retry_failed();
    comparison_.retry_failed();
    clients_.forget_unkept();
    observer_.forget_moved();
    waits_.tell_all();
}

void SessionService::instance_registered(const std::string& session) {
    events_.hand_over(session, [this, session] { states_.activate(session); });
}

void SessionService::instance_lost(const std::string& session) {
    events_.hand_over(session, [this, session] { work_.schedule(session); });
}

void SessionService::instance_status(const std::string& session, bool error, const std::string& message) {
    events_.hand_over(session, [this, session, error, message] {
        if (!error) return states_.activate(session);
        states_.fail(session, message.empty() ? "Container reported an error" : message);
    });
}

void SessionService::stream_changed(const std::string& session, bool active, const std::string& encoder) {
    events_.hand_over(session, [this, session, active, encoder] {
        if (active) return states_.stream_began(session, encoder);
        states_.stream_ended(session, {"Client left", end_code::client_left});
    });
}

// The client may have been let in just before its session failed.
void SessionService::client_connected(const std::string& id) {
    const SessionPtr session = records_.find(id);
    if (!session) return;
    if (!session->joinable && !session->client_connected && !session->removal_due) clients_.expect(id, true);
    if (session->status != SessionStatus::error) return;
    events_.hand_over(id, [this, id] {
        const SessionPtr now = records_.find(id);
        if (!now || now->status != SessionStatus::error) return;
        ignore_not_found([&] { relay_.fail_client(id, {now->status_message, end_code::failed}); });
    });
}

// A client that watches needs no signalling socket.
void SessionService::client_disconnected(const std::string& id) {
    const SessionPtr session = records_.find(id);
    if (!session || session->joinable || session->client_connected || session->removal_due) return;
    clients_.expect(id, false);
}

void SessionService::region_answers(const std::string& region) {
    comparison_.schedule(region);
}

void SessionService::instance_changed(const std::string& region, const std::string& instance) {
    if (instance.empty()) return comparison_.schedule(region);
    for (const std::string& session : records_.index().sessions_of(region, instance)) work_.schedule(session);
}

}  // namespace svc

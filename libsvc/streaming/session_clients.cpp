// New sessions, and the clients of those there are.
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

namespace {

constexpr std::size_t max_user_data = 10'240;  // bytes, of the management service
constexpr std::chrono::minutes creation_window{1};

std::string socket_path(const std::string& id, SocketRole role, const std::string& token) {
    const std::string name = role == SocketRole::master ? "master" : "slave";
    return "/1.0/sessions/" + id + "/sockets/" + name + "?token=" + token;
}

}  // namespace

// Of one account, whoever makes them for it; sessions without an account are not limited.
void SessionService::Implementation::admit(const SessionOwner& owner) {
    const SessionLimits& limits = config_.limits;
    if (records_.size() >= limits.sessions) throw Error(ErrorCode::invalid_argument, "Too many sessions");
    if (limits.creations_per_minute == 0 || owner.empty()) return;
    const SteadyTime now = clock_.steady_now();
    creations_.with([&](auto& accounts) {
        std::erase_if(accounts,
                      [&](const auto& account) { return now - account.second.back() >= creation_window; });
        std::deque<SteadyTime>& times = accounts[owner];
        while (!times.empty() && now - times.front() >= creation_window) times.pop_front();
        if (times.size() >= limits.creations_per_minute)
            throw Error(ErrorCode::invalid_argument, "Too many requests");
        times.push_back(now);
    });
}

SessionGrant SessionService::Implementation::create(const SessionOwner& owner, const SessionCreate& request) {
    if (stopping_) throw Error(ErrorCode::unavailable, "the gateway is stopping");
    admit(owner);
    const StreamSession session = new_session(owner, request);
    if (user_data(session).dump().size() > max_user_data)
        throw_invalid("extra_data", "the instance's user data would be larger than 10 KiB");
    if (!session.joinable) expect_client(session.id, false);
    const Ptr record = commit_new(session);
    log::info("session created", {{"session", session.id},
                                  {"account", owner.substr(0, owner.find('/'))},
                                  {"app", session.app},
                                  {"region", session.region}});
    SessionGrant granted = grant(*record, *session.expected);
    schedule(session.id);
    return granted;
}

// Whoever sees the record may launch, or end it, at once: that nobody launched before is known by then, and
// what is to be closed is open.
SessionService::Implementation::Ptr SessionService::Implementation::commit_new(const StreamSession& session) {
    duties_.with([&](auto& duties) { duties[session.id].fresh = true; });
    try {
        relay_.open(session.id);
        return records_.create(session);
    } catch (...) {
        duties_.with([&](auto& duties) { duties.erase(session.id); });
        if_known([&] { relay_.close(session.id, "session was not created"); });
        expect_nobody(session.id);
        throw;
    }
}

StreamSession SessionService::Implementation::new_session(const SessionOwner& owner,
                                                          const SessionCreate& request) {
    StreamSession session;
    session.region = regions_.choose({request.app, request.app_version, request.region},
                                     [this](const std::string& region) { return index_.open_in(region); });
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
    session.expected = new_client({});
    session.worker = self_;  // the launch is ours from the first commit on
    session.worker_until = session.created_at + claim_time;
    return session;
}

SessionGrant SessionService::Implementation::join(const SessionOwner& owner, std::string_view id,
                                                  const SessionJoin& request) {
    const Ptr session = find_owned(owner, id);
    if (session->status != SessionStatus::active)
        throw Error(ErrorCode::invalid_argument, "Session is not active");
    if (!session->joinable) throw Error(ErrorCode::invalid_argument, "Session is not joinable");
    std::optional<Screen> screen;
    if (request.screen) screen = request.screen->applied_to(session->screen);
    const ExpectedClient client = new_client(screen);
    change(id, [&](StreamSession& record) {
        record.screen = screen.value_or(record.screen);
        record.expected = client;
        return true;
    });
    log::info("client let in", {{"session", session->id}, {"client", client.id}});
    return grant(*find_owned(owner, id), client);
}

ExpectedClient SessionService::Implementation::new_client(std::optional<Screen> screen) {
    return {ids_.object_id(), clock_.now() + config_.limits.client_token, screen};
}

// Its record has it already.
SessionGrant SessionService::Implementation::grant(const StreamSession& session,
                                                   const ExpectedClient& client) {
    const Json servers = let_in(session.id, client);
    const std::string token = mint_.socket_token({session.id, SocketRole::slave, client.id}, client.until);
    return {session, socket_path(session.id, SocketRole::slave, token), servers};
}

Json SessionService::Implementation::let_in(const std::string& session, const ExpectedClient& client) {
    Json servers = ice_servers(config_.ice, session, clock_.now());
    relay_.expect(session, {client.id, servers, client.screen});
    return servers;
}

// Before its socket opens: no process lets the client in a second time.
void SessionService::Implementation::use_grant(const std::string& session, const std::string& client) {
    change(session, [&](StreamSession& record) {
        if (!record.expected || record.expected->id != client) return false;
        record.expected.reset();
        return true;
    });
}

Json SessionService::Implementation::user_data(const StreamSession& session) const {
    const std::string token = mint_.socket_token({session.id, SocketRole::master, ""}, std::nullopt);
    Json streaming = Json::object(
        {{"session_id", session.id},
         {"control_url", config_.instance_url + socket_path(session.id, SocketRole::master, token)}});
    const std::string fingerprint = fingerprint_.with([](const std::string& present) { return present; });
    if (!fingerprint.empty()) streaming.set("fingerprint", fingerprint);
    if (!config_.server_name.empty()) {
        streaming.set("server_name", config_.server_name);
        streaming.set("server_fingerprint", config_.server_fingerprint);
    }
    streaming.set("metrics_labels", Json::object({{"region", session.region}, {"app", session.app}}));
    return Json::object({{"display_width", session.screen.width},
                         {"display_height", session.screen.height},
                         {"display_density", session.screen.density},
                         {"fps", session.screen.fps},
                         {"extra_data", session.extra_data},
                         {"streaming", std::move(streaming)}});
}

std::shared_ptr<WebSocketHandler> SessionService::Implementation::socket(std::string_view id, SocketRole role,
                                                                         std::string_view token) {
    const SocketGrant grant = mint_.read_socket_token(token, clock_.now());
    if (grant.session != id || grant.role != role)
        throw Error(ErrorCode::forbidden, "token is not for this socket");
    const Ptr session = records_.find(id);
    if (!session || session->removal_due || session->status == SessionStatus::terminated)
        throw Error(ErrorCode::not_found, "session not found");
    if (role == SocketRole::master) return relay_.master(session->id);
    use_grant(session->id, grant.client);
    return relay_.slave(session->id, grant.client);
}

void SessionService::Implementation::expect_client(const std::string& id, bool is_there) {
    const Expected client{clock_.now() + config_.limits.client_token, is_there};
    expected_.with([&](auto& clients) { clients[id] = client; });
}

void SessionService::Implementation::expect_nobody(const std::string& id) {
    expected_.with([&](auto& clients) { clients.erase(id); });
    silent_.with([&](auto& sessions) { sessions.erase(id); });
}

// It may have been let in just before its session failed.
void SessionService::Implementation::client_came(const std::string& id) {
    const Ptr session = records_.find(id);
    if (!session) return;
    if (!session->joinable && !session->client_connected && !session->removal_due) expect_client(id, true);
    if (session->status != SessionStatus::error) return;
    hand_over(id, [this, id] {
        const Ptr now = records_.find(id);
        if (now && now->status == SessionStatus::error)
            if_known([&] { relay_.fail_client(id, {now->status_message, end_code::failed}); });
    });
}

// A client that watches needs no signalling.
void SessionService::Implementation::client_went(const std::string& id) {
    const Ptr session = records_.find(id);
    if (!session || session->joinable || session->client_connected || session->removal_due) return;
    expect_client(id, false);
}

}  // namespace svc

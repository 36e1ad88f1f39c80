#include "libsvc/streaming/sessions/session_clients.h"

#include <vector>

#include "libsvc/streaming/sessions/instance_user_data.h"

namespace svc {

ExpectedClient SessionClients::make_client(std::optional<Screen> screen) {
    return {parts_.ids.object_id(), parts_.clock.now() + parts_.config.limits.client_token, screen};
}

SessionGrant SessionClients::grant(const StreamSession& session, const ExpectedClient& client) {
    const Json servers = let_in(session.id, client);
    const std::string token =
        parts_.mint.socket_token({session.id, SocketRole::slave, client.id}, client.until);
    const std::string media =
        parts_.mint.socket_token({session.id, SocketRole::media, client.id}, client.until);
    return {session, socket_path(session.id, SocketRole::slave, token),
            socket_path(session.id, SocketRole::media, media), servers};
}

Json SessionClients::let_in(const std::string& session, const ExpectedClient& client) {
    Json servers = ice_servers(parts_.config.ice, session, parts_.clock.now());
    parts_.relay.expect(session, {client.id, servers, client.screen, client.watches});
    return servers;
}

// In the record, so that no process lets the client in a second time.
void SessionClients::use_grant(const std::string& session, const std::string& client) {
    parts_.records.change(session, [&](StreamSession& record) {
        if (!record.expected || record.expected->id != client) return false;
        record.expected.reset();
        return true;
    });
}

void SessionClients::expect(const std::string& session, bool is_there) {
    const Expected client{parts_.clock.steady_now() + parts_.config.limits.client_token, is_there};
    expected_.with([&](auto& clients) { clients[session] = client; });
}

void SessionClients::give_time(const std::string& session) {
    const SteadyTime until = parts_.clock.steady_now() + parts_.config.limits.client_token;
    expected_.with([&](auto& clients) {
        const auto found = clients.find(session);
        if (found != clients.end() && found->second.is_there) found->second.until = until;
    });
}

void SessionClients::forget(const std::string& session) {
    expected_.with([&](auto& clients) { clients.erase(session); });
    away_.with([&](auto& sessions) { sessions.erase(session); });
}

void SessionClients::forget_unkept() {
    const SteadyTime now = parts_.clock.steady_now();
    std::vector<std::string> due;
    expected_.with([&](const auto& clients) {
        for (const auto& [id, client] : clients)
            if (client.until <= now) due.push_back(id);
    });
    for (const std::string& id : due)
        if (!parts_.records.find(id)) forget(id);
}

std::optional<bool> SessionClients::overdue(const StreamSession& session) const {
    const SteadyTime now = parts_.clock.steady_now();
    return expected_.with([&](const auto& clients) -> std::optional<bool> {
        const auto found = clients.find(session.id);
        if (found == clients.end() || found->second.until > now) return std::nullopt;
        const bool is_there = found->second.is_there;
        if (is_there && session.status != SessionStatus::active) return std::nullopt;
        return is_there;
    });
}

// Media may go past the gateway: only the instance tells that it flows.
bool SessionClients::has_lost_instance(const StreamSession& session) {
    const SteadyTime now = parts_.clock.steady_now();
    const bool is_away = session.client_connected && !parts_.relay.is_registered(session.id);
    return away_.with([&](auto& since) {
        if (is_away) return now - since.emplace(session.id, now).first->second >= parts_.config.limits.silent;
        since.erase(session.id);
        return false;
    });
}

}  // namespace svc

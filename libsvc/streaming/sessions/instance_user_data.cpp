#include "libsvc/streaming/sessions/instance_user_data.h"

#include <optional>
#include <utility>

namespace svc {

std::string socket_path(const std::string& session, SocketRole role, const std::string& token) {
    return "/1.0/sessions/" + session + "/sockets/" + std::string(to_text(role)) + "?token=" + token;
}

InstanceUserData::InstanceUserData(const SessionServiceConfig& config, const TokenMint& mint)
    : config_(config), mint_(mint), fingerprint_(config.fingerprint) {}

Json InstanceUserData::of(const StreamSession& session) const {
    const std::string token = mint_.socket_token({session.id, SocketRole::master, ""}, std::nullopt);
    Json streaming = Json::object(
        {{"session_id", session.id},
         {"control_url", config_.instance_url + socket_path(session.id, SocketRole::master, token)}});
    if (Json others = other_gateways(); !others.as_array().empty())
        streaming.set("other_gateways", std::move(others));
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

Json InstanceUserData::other_gateways() const {
    Json urls = Json::array();
    if (config_.other_gateways)
        for (const std::string& url : config_.other_gateways()) urls.push_back(url);
    return urls;
}

void InstanceUserData::use_fingerprint(std::string fingerprint) {
    fingerprint_.with([&](std::string& present) { present = std::move(fingerprint); });
}

}  // namespace svc

#include "instance-agent/streamer/start_data.h"

#include <algorithm>

#include "instance-agent/shared/display_settings.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/instance.h"

namespace svc::streamer {

namespace {

constexpr std::uint32_t most_fps = 120;

std::optional<Json> object_of(const std::string& text) try {
    Json document = Json::parse(text);
    if (!document.is_object()) return std::nullopt;
    return document;
} catch (const Error&) {
    return std::nullopt;  // the user data is not JSON
}

// A gateway with a separate certificate for instances also gives its name.
GatewayAddress gateway_of(const JsonFields& streaming) {
    const auto name = streaming.string("server_name");
    const std::string fingerprint =
        name ? streaming.require_string("server_fingerprint") : streaming.string("fingerprint").value_or("");
    auto gateway =
        GatewayAddress::parse(streaming.require_string("control_url"), fingerprint, name.value_or(""));
    for (const std::string& other : streaming.strings("other_gateways").value_or(std::vector<std::string>()))
        gateway.add_other(other);
    return gateway;
}

}  // namespace

std::optional<StreamStart> read_user_data(const std::string& platform, const std::string& text) {
    if (!agent::streams(platform)) return std::nullopt;
    const auto document = object_of(text);
    if (!document) return std::nullopt;
    const auto streaming = JsonFields(*document).object("streaming");
    if (!streaming) return std::nullopt;
    StreamStart start;
    start.session_id = streaming->require_string("session_id");
    start.gateway = gateway_of(*streaming);
    if (const auto labels = streaming->object("metrics_labels")) {
        start.app = labels->string("app").value_or("");
        start.region = labels->string("region").value_or("");
    }
    const agent::DisplaySettings display = agent::read_display_settings(platform, text);
    start.width = static_cast<int>(display.width);
    start.height = static_cast<int>(display.height);
    start.density = static_cast<int>(display.density);
    start.fps = static_cast<int>(std::min(most_fps, display.fps));
    return start;
}

InstanceFacts read_session(const std::filesystem::path& file) try {
    const AgentSession session = AgentSession::from_json(Json::parse(read_file(file)));
    InstanceFacts facts;
    facts.instance_id = session.instance_id;
    facts.platform = session.config.platform;
    if (!session.app.video_encoder.empty())
        facts.encoder = parse_video_encoder("video_encoder", session.app.video_encoder);
    if (!session.config.metrics_server.empty())
        facts.metrics_server = MetricsServer::parse("metrics_server", session.config.metrics_server);
    return facts;
} catch (const Error& e) {
    log::warning("no session file: metrics are sent nowhere", {{"error", e.what()}});
    return {};
}

}  // namespace svc::streamer

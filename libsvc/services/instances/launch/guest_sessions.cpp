#include "libsvc/services/instances/launch/guest_sessions.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/socket/host_address.h"

namespace svc {

namespace {

std::string gpu_type(const Node& node, int id) {
    const auto gpu = std::ranges::find(node.gpus, id, &Gpu::id);
    return gpu == node.gpus.end() ? "none" : gpu->type;
}

// The agent looks up no names. It tries the service's socket first, so a launch does not fail for an address.
void add_load_balancer(const std::string& url, AgentSession& session) {
    try {
        const std::string host = Target::parse(url).host;
        session.service_addresses[host] = host_address(host);
        session.service_urls.insert(session.service_urls.begin(), url);
    } catch (const Error& e) {
        log::warning("load balancer left out of a session", {{"url", url}, {"error", e.what()}});
    }
}

int whole_seconds(Duration limit) {
    return std::max(1, static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(limit).count()));
}

}  // namespace

GuestSessions::GuestSessions(AgentSession common, std::function<ServiceReach()> reach,
                             const ConfigService& config, const AgentTokens& tokens, const NodeService& nodes,
                             const BootLimit& limit)
    : common_(std::move(common)),
      reach_(std::move(reach)),
      config_(config),
      tokens_(tokens),
      nodes_(nodes),
      limit_(limit) {}

AgentSession GuestSessions::make(const Instance& planned) const {
    const ConfigValues config = config_.values();
    const bool base = planned.type == InstanceType::base;
    AgentSession session = common_;
    const ServiceReach reach = reach_ ? reach_() : ServiceReach();
    session.service_urls = reach.urls;
    session.service_fingerprint = reach.fingerprint;
    if (const std::string url = config.text("load_balancer.url"); !url.empty())
        add_load_balancer(url, session);
    session.instance_id = planned.id.str();
    session.instance_type = to_text(planned.type);
    session.token = tokens_.issue(session.instance_id);
    session.config = planned.config;
    session.image_variant = planned.image_variant;
    session.android = planned.android;
    session.ready = planned.ready;
    session.boot_timeout_seconds = whole_seconds(base ? limit_.left(planned) : limit_.limit());
    session.packages = planned.packages;
    session.app = planned.app;
    session.features = planned.features;
    session.security_updates = base && config.boolean("container.security_updates");
    session.apt_mirror = config.text("container.apt_mirror");
    session.network_proxy = config.text("container.network_proxy");
    session.gpus = planned.gpus;
    session.gpu_type = config.text("gpu.type");
    if (session.gpu_type == "none" && !planned.gpus.empty())
        session.gpu_type = gpu_type(*nodes_.get(*planned.node), planned.gpus.front());
    return session;
}

}  // namespace svc

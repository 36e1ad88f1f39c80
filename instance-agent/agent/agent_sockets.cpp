#include "instance-agent/agent/agent_sockets.h"

#include <sys/resource.h>

#include <algorithm>

#include "instance-agent/agent/control/root_routes.h"
#include "instance-agent/agent/files/socket_folder.h"
#include "instance-agent/agent/lifecycle.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/processes/process.h"

namespace svc::agent {
namespace {

constexpr rlim_t wanted_descriptors = 8192;

void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    set_file_limit_of_children(
        limit.rlim_cur);  // children (hooks, the guest's programs) keep the usual limit
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, wanted_descriptors));
    setrlimit(RLIMIT_NOFILE, &limit);
}

Paths paths_of(const Options& options) {
    Paths paths;
    paths.data = options.session.parent_path();
    return paths;
}

// main() reports a broken session file; here it counts as absent.
AgentSession session_of(const Options& options) try {
    return read_session(options.session).value_or(AgentSession());
} catch (const Error&) {
    return {};
}

// An image for vehicles says so, or has a file of vehicle properties.
bool is_automotive(const Options& options, const AgentSession& session) {
    if (options.automotive != Automotive::automatic) return options.automotive == Automotive::yes;
    std::error_code ignored;
    return session.image_variant == "aaos" || !options.vhal_config.empty() ||
           std::filesystem::exists(options.session.parent_path() / "vhal/properties.json", ignored);
}

DeviceContext context_of(const Options& options, bool in_instance, MetricsRegistry& metrics, Clock& clock) {
    const AgentSession session = session_of(options);
    return DeviceContext{paths_of(options),
                         options.api_socket.parent_path(),
                         options.vhal_config,
                         session.config.platform,
                         is_automotive(options, session),
                         in_instance,
                         metrics,
                         clock};
}

bool is_there(const std::filesystem::path& socket) {
    std::error_code ignored;
    return std::filesystem::is_socket(socket, ignored);
}

}  // namespace

AgentSockets::AgentSockets(const Options& options, bool in_instance)
    : options_(options),
      links_(in_instance && options.api_socket == default_api_socket),
      log_setting_(options.session.parent_path() / "state/log_level", options.log_level),
      devices_(context_of(options_, in_instance, metrics_, clock_)) {
    raise_descriptor_limit();
    try {
        restore();
    } catch (const std::exception& e) {
        if (!in_instance) throw;
        log::error("sockets cannot be served yet", {{"error", e.what()}});
    }
}

// The servers call the devices, so they end first.
AgentSockets::~AgentSockets() {
    control_.reset();
    guests_.reset();
}

void AgentSockets::serve_control() {
    prepare_socket_folder(options_.api_socket.parent_path());
    std::vector<Route> routes = root_routes([this] { return devices_.extensions(); }, log_setting_, metrics_);
    for (Route& route : devices_.routes()) routes.push_back(std::move(route));
    control_.reset();
    control_ = std::make_unique<ControlServer>(options_.api_socket, std::move(routes), metrics_);
}

void AgentSockets::serve_guests() {
    prepare_socket_folder(options_.guest_socket.parent_path());
    GuestServerOptions settings;
    settings.socket = options_.guest_socket;
    settings.metrics = &metrics_;
    guests_.reset();
    guests_ = std::make_unique<GuestServer>(settings, devices_.features());
}

void AgentSockets::restore() {
    if (!control_ || !is_there(options_.api_socket)) serve_control();
    if (!guests_ || !is_there(options_.guest_socket)) serve_guests();
    if (links_) link_for_user(options_.api_socket.parent_path());
    devices_.refresh();
}

void AgentSockets::refresh() {
    const std::lock_guard lock(refreshing_);
    try {
        restore();
        told_.clear();
    } catch (const std::exception& e) {
        if (told_ != e.what()) log::warning("sockets are not as they should be", {{"error", e.what()}});
        told_ = e.what();
    }
}

}  // namespace svc::agent

#include "instance-agent/agent/control/control_server.h"

#include <unistd.h>

#include "instance-agent/agent/control/control_service.h"
#include "instance-agent/agent/files/socket_folder.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr unsigned socket_mode = 0660;
constexpr std::size_t workers = 2;
constexpr std::size_t waiting_requests = 256;

ServerLimits limits() {
    ServerLimits limits;
    limits.header_bytes = 16U << 10;
    limits.keep_alive_time = 60s;
    limits.max_connections = 2000;
    limits.max_websockets = 0;
    limits.uploads_at_once = 4;
    limits.buffered_bytes = 192U << 20;  // ControlService counts large ones more closely
    return limits;
}

bool may_connect(const Peer& peer) {
    return peer.uid == 0 || peer.uid == instance_user || peer.uid == geteuid();
}

// Root finds a place whatever the instance's user does.
Standing standing_of(const Peer& peer) {
    return peer.uid == 0 || peer.uid == geteuid() ? Standing::reserved : Standing::trusted;
}

ListenerLimits control_limits() {
    ListenerLimits limits;
    limits.standing = standing_of;
    return limits;
}

}  // namespace

class ControlServer::Implementation {
  public:
    Implementation(const std::filesystem::path& socket, std::vector<Route> routes, MetricsRegistry& metrics)
        : service_(std::move(routes), metrics),
          pool_("control", workers, waiting_requests),
          server_(service_, pool_, limits(), 1) {
        server_.accept_only(may_connect);
        server_.listen_unix("control", socket, socket_mode, -1, control_limits());
        give_to_user(socket);
        server_.start();
    }
    ~Implementation() { server_.stop(2s); }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    std::size_t connections() const { return server_.connections(); }

  private:
    ControlService service_;
    ThreadPool pool_;
    HttpServer server_;
};

ControlServer::ControlServer(const std::filesystem::path& socket, std::vector<Route> routes,
                             MetricsRegistry& metrics)
    : implementation_(std::make_unique<Implementation>(socket, std::move(routes), metrics)) {}

ControlServer::~ControlServer() = default;

std::size_t ControlServer::connections() const {
    return implementation_->connections();
}

}  // namespace svc::agent

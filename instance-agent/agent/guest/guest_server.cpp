#include "instance-agent/agent/guest/guest_server.h"

#include <pthread.h>

#include <thread>

#include "instance-agent/agent/guest/guest_loop.h"
#include "libsvc/base/log.h"

namespace svc::agent {

class GuestServer::Implementation {
  public:
    Implementation(GuestServerOptions options, std::vector<GuestFeature> features)
        : loop(std::move(options), std::move(features)), thread_([this] {
              pthread_setname_np(pthread_self(), "guest");
              serve();
          }) {}
    ~Implementation() {
        loop.stop();
        thread_.join();
    }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    GuestLoop loop;

  private:
    void serve() try { loop.run(); } catch (const std::exception& e) {
        log::error("guest interface failed", {{"error", e.what()}});
    }

    std::jthread thread_;
};

GuestServer::GuestServer(GuestServerOptions options, std::vector<GuestFeature> features)
    : implementation_(std::make_unique<Implementation>(std::move(options), std::move(features))) {}

GuestServer::~GuestServer() = default;

void GuestServer::broadcast(const Json& event) {
    implementation_->loop.broadcast(event);
}

std::size_t GuestServer::sessions() const {
    return implementation_->loop.sessions();
}

}  // namespace svc::agent

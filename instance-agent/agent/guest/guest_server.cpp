#include "instance-agent/agent/guest/guest_server.h"

#include <pthread.h>

#include "libsvc/base/log.h"

namespace svc::agent {

GuestServer::GuestServer(GuestServerOptions options, std::vector<GuestFeature> features)
    : loop_(std::move(options), std::move(features)), thread_([this] { serve(); }) {}

GuestServer::~GuestServer() {
    loop_.stop();
    thread_.join();
}

void GuestServer::serve() noexcept try {
    pthread_setname_np(pthread_self(), "guest");
    loop_.run();
} catch (const std::exception& e) {
    log::error("guest interface failed", {{"error", e.what()}});
}

void GuestServer::broadcast(const Json& event) {
    loop_.broadcast(event);
}

std::size_t GuestServer::sessions() const {
    return loop_.sessions();
}

}  // namespace svc::agent

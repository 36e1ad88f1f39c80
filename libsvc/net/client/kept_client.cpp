#include "libsvc/net/client/kept_client.h"

#include <mutex>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/direct_call.h"

namespace svc {

namespace {

constexpr std::size_t max_kept = 16;

bool stays_open(const ClientReply& reply) {
    const std::string* const connection = reply.headers.find("Connection");
    return connection == nullptr || !iequals(*connection, "close");
}

}  // namespace

struct KeptClient::Connection {
    Connection(const Target& target, std::chrono::milliseconds timeout) : channel(target, timeout) {}
    net::ClientChannel channel;
    net::InputBuffer in;
};

class KeptClient::Pool {
  public:
    // Null when none is idle.
    std::unique_ptr<Connection> take() {
        std::lock_guard lock(mutex_);
        if (idle_.empty()) return nullptr;
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
    }
    void give_back(std::unique_ptr<Connection> connection) {
        std::lock_guard lock(mutex_);
        if (idle_.size() < max_kept) idle_.push_back(std::move(connection));
    }

    void clear() {
        std::vector<std::unique_ptr<Connection>> dropped;
        std::lock_guard lock(mutex_);
        idle_.swap(dropped);
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

KeptClient::KeptClient(Target target) : target_(std::move(target)), pool_(std::make_unique<Pool>()) {}
KeptClient::~KeptClient() = default;

ClientReply KeptClient::call(ClientRequest request) {
    request.headers.add("Connection", "keep-alive");
    auto connection = pool_->take();
    if (!connection) connection = std::make_unique<Connection>(target_, request.timeout);
    try {
        ClientReply reply = net::exchange(connection->channel, request, connection->in);
        if (stays_open(reply)) pool_->give_back(std::move(connection));
        return reply;
    } catch (const Error&) {
        pool_->clear();  // the others are most likely dead as well
        throw;
    }
}

}  // namespace svc

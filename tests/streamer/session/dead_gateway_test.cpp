// Whoever ends a peer or a link does not wait for a gateway that is dead.
#include <atomic>
#include <catch2/catch.hpp>

#include "instance-agent/streamer/client/socket_peer.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"
#include "tests/support/manual_clock.h"
#include "tests/support/unserved_port.h"

using namespace svc;
using namespace svc::streamer;
using namespace svc::test;

namespace {

// Warnings while it lives: a connection that times out is one.
class Warnings {
  public:
    Warnings() {
        log::set_listener([this](log::Level level, std::string_view message, const log::Fields&) {
            if (level >= log::Level::warning) lines_.with([&](auto& lines) { lines.emplace_back(message); });
        });
    }
    ~Warnings() { log::set_listener(nullptr); }
    Warnings(const Warnings&) = delete;
    Warnings& operator=(const Warnings&) = delete;
    std::vector<std::string> lines() const {
        return lines_.with([](const auto& lines) { return lines; });
    }

  private:
    Guarded<std::vector<std::string>> lines_;
};

// Of a peer that never connects nothing may be told but its failure.
struct NoEvents final : PeerEvents {
    std::atomic<int> failures{0};
    void local_offer(const std::string&) override {}
    void local_candidate(const std::string&, unsigned) override {}
    void connected() override {}
    void failed(const std::string&) override { ++failures; }
    void left() override {}
    void channel_opened(const std::string&) override {}
    void channel_closed(const std::string&) override {}
    void channel_message(const std::string&, bool, std::string_view) override {}
};

GatewayAddress address_of(const UnservedPort& port) {
    GatewayAddress address;
    address.target = port.target(true);
    address.path = "/1.0/sessions/s/sockets/master?token=t";
    return address;
}

struct DeadGateway {
    bool takes_connections = GENERATE(true, false);
    UnservedPort port;
    Warnings warnings;
    DeadGateway() {
        if (!takes_connections) port.fill();
    }
    // Until somebody waits for it, as far as that can be seen.
    FileDescriptor waited_for() const { return takes_connections ? port.accept() : FileDescriptor(); }
};

}  // namespace

TEST_CASE_METHOD(DeadGateway, "a peer that still waits for its gateway ends without waiting for that") {
    NoEvents events;
    auto peer = std::make_unique<SocketPeer>(PeerSetup(), "c", address_of(port), std::vector<VideoCodec>(),
                                             OpenVideo(), OpenSound(), OpenMicrophone(), events);
    const FileDescriptor connection = waited_for();
    peer.reset();
    CHECK(warnings.lines().empty());
    CHECK(events.failures == 0);
}

TEST_CASE_METHOD(DeadGateway, "a link that still waits for its gateway ends without waiting for that") {
    ManualClock clock;
    auto link = std::make_unique<GatewayLink>(address_of(port), clock, GatewayListener());
    const FileDescriptor connection = waited_for();
    link.reset();
    CHECK(warnings.lines().empty());
}

#include "server/metrics-agent/agent.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/socket/bind.h"
#include "tests/support/eventually.h"
#include "tests/support/manual_clock.h"

namespace svc::metrics_agent {

namespace {

bool send_to(const std::string& address, const std::string& datagram) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return ::sendto(socket.get(), datagram.data(), datagram.size(), 0, reinterpret_cast<sockaddr*>(&to),
                    sizeof(to)) == static_cast<ssize_t>(datagram.size());
}

// Tries again when somebody else has what was free a moment ago: the number that HTTP got, for datagrams.
template <class Start>
auto until_not_busy(Start start) {
    for (int attempt = 1;; ++attempt) try {
            return start();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::busy || attempt == 50) throw;
        }
}

// The agent on free ports of the loopback.
struct World {
    test::ManualClock clock;
    const std::unique_ptr<Agent> running = until_not_busy([this] {
        return std::make_unique<Agent>(Options{"127.0.0.1:0", "127.0.0.1:0", {}}, clock);
    });
    const Agent& agent = *running;

    static ClientReply call(const std::string& address, Method method, const std::string& path,
                            const std::string& body = "") {
        ClientRequest request;
        request.method = method;
        request.path = path;
        request.body = body;
        return HttpClient(Target::parse("http://" + address)).call(request);
    }
    ClientReply write(const std::string& batch) const {
        return call(agent.write_address(), Method::post, "/write?db=streaming&precision=ns", batch);
    }
    std::string scrape(const std::string& path = "/metrics") const {
        return call(agent.scrape_address(), Method::get, path).body;
    }
    void send(const std::string& datagram) const { REQUIRE(send_to(agent.write_address(), datagram)); }
    // Datagrams have no answer.
    bool await(const std::string& text) const {
        return test::eventually([&] { return scrape().find(text) != std::string::npos; });
    }
};

}  // namespace

TEST_CASE("datagrams become series") {
    const World world;
    world.send("webrtc,instance=a,ssrc=1 frames_encoded=900i\nwebrtc,instance=a,ssrc=2 frames_encoded=1i\n");
    CHECK(world.await("webrtc_frames_encoded{instance=\"a\",ssrc=\"1\"} 900\n"));
    CHECK(world.await("webrtc_frames_encoded{instance=\"a\",ssrc=\"2\"} 1\n"));
}

TEST_CASE("hostile datagrams are counted and nothing else") {
    const World world;
    world.send(std::string(60'000, 'x'));
    world.send(std::string("\0\xff,=\n,,,\n", 9));
    world.send("webrtc,ssrc=1 pli_count=1i");
    CHECK(world.await("webrtc_pli_count{ssrc=\"1\"} 1\n"));
    CHECK(world.await("svc_metrics_refused_lines_total{reason=\"faulty\"} 3\n"));
}

// Each datagram sends the next one.
TEST_CASE("a flood that does not end does not hold up the end") {
    std::string address;
    std::atomic<int> received{0};
    const auto receiver = until_not_busy([&] {
        address = net::local_address(net::bind_udp("127.0.0.1:0").get());
        return std::make_unique<UdpReceiver>(address, [&](std::string_view, std::string_view) {
            ++received;
            received.notify_one();
            send_to(address, "x");
        });
    });
    REQUIRE(send_to(address, "x"));
    received.wait(0);
    SUCCEED("and it ends");
}

TEST_CASE("batches are posted and answered") {
    const World world;
    CHECK(world.write("webrtc,ssrc=1 bytes_sent=7i 1\n").status == 204);
    const ClientReply faulty = world.write("webrtc,ssrc=1\nwebrtc,ssrc=2 bytes_sent=8i");
    CHECK(faulty.status == 400);
    CHECK(faulty.body == "{\"error\":\"fields are missing\"}\n");
    for (const char* path : {"/metrics", "/1.0/metrics"}) {
        const std::string text = world.scrape(path);
        CHECK(text.find("webrtc_bytes_sent{ssrc=\"1\"} 7\n") != std::string::npos);
        CHECK(text.find("webrtc_bytes_sent{ssrc=\"2\"} 8\n") != std::string::npos);
    }
    CHECK(World::call(world.agent.write_address(), Method::get, "/ping").status == 204);
}

TEST_CASE("each port has its own routes") {
    const World world;
    CHECK(World::call(world.agent.write_address(), Method::get, "/metrics").status == 404);
    CHECK(World::call(world.agent.scrape_address(), Method::post, "/write", "webrtc a=1").status == 404);
    CHECK(World::call(world.agent.write_address(), Method::get, "/write").status == 404);
}

TEST_CASE("a batch over the limit is refused") {
    const World world;
    CHECK(world.write(std::string((64U << 10U) + 1, '#')).status == 400);
}

TEST_CASE("an address in use is told with its flag") {
    World world;
    try {
        Agent second({world.agent.write_address(), "127.0.0.1:0", {}}, world.clock);
        FAIL("it took the same address");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::busy);
        CHECK(std::string(e.what()).find("listen") != std::string::npos);
    }
}

}  // namespace svc::metrics_agent

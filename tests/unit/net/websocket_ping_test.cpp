// Pings to silent peers, and when the server gives a peer up.
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/net/http/reply_head.h"
#include "libsvc/net/socket/bind.h"
#include "libsvc/net/websocket/upgraded_session.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "libsvc/net/websocket/websocket_frames.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

using Steady = std::chrono::steady_clock;

class Silent : public WebSocketHandler {
  public:
    void on_open(std::shared_ptr<WebSocket>) override {}
    void on_message(bool, std::string) override {}
    void on_close(std::uint16_t code, std::string_view) override {
        close_code = code;
        closed.set();
    }
    Signal closed;
    std::atomic<int> close_code{0};
};

std::string frame(net::FrameKind kind, std::string_view payload, bool masked = false) {
    std::string out;
    net::append_frame(out, kind, payload, masked);
    return out;
}

// The server's side of a connection without the connection: the time is what the test says.
struct LoneSession {
    std::shared_ptr<Silent> handler = std::make_shared<Silent>();
    std::shared_ptr<net::UpgradedSession> session = handler->make_session(handler, settings());

    static net::UpgradedSettings settings() {
        net::UpgradedSettings settings;
        settings.limits.ping_seconds = 600;
        settings.limits.dead_seconds = 1800;
        settings.pings = true;
        settings.wake = [] {};
        return settings;
    }
    bool pings_at(net::UpgradedSession::Instant time) {
        session->tick(time);
        const bool pinged = session->output() == frame(net::FrameKind::ping, "");
        session->output_sent(session->output().size());
        return pinged;
    }
    bool is_open() { return session->phase() == net::UpgradedSession::Phase::open; }
};

// Takes one WebSocket and pings it, then says "text". What has come back by the end of the connection.
std::string answer_to_ping(int listener) {
    pollfd waited{listener, POLLIN, 0};
    poll(&waited, 1, -1);
    const FileDescriptor peer(accept(listener, nullptr, nullptr));
    std::string head;
    for (char c = 0; !head.ends_with("\r\n\r\n") && recv(peer.get(), &c, 1, 0) == 1;) head += c;
    constexpr std::string_view field = "Sec-WebSocket-Key: ";
    const std::string accepted = net::websocket_accept(head.substr(head.find(field) + field.size(), 24));
    const std::string reply =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        accepted + "\r\n\r\n" + frame(net::FrameKind::ping, "ping") + frame(net::FrameKind::text, "text");
    send(peer.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
    std::string answer;
    for (char c = 0; recv(peer.get(), &c, 1, 0) == 1;) answer += c;
    return answer;
}

}  // namespace

TEST_CASE("websocket peers over tcp that answer nothing are dropped") {
    const auto handler = std::make_shared<Silent>();
    TestServer t;
    t.with_tcp = true;
    t.limits.websocket.ping_seconds = 1;
    t.limits.websocket.dead_seconds = 2;
    t.service.add("/ws", [&](Request&) {
        Response response;
        response.websocket = handler;
        return response;
    });
    t.start();
    const WebSocketClient client(t.tcp_target(), "/ws");
    CHECK(handler->closed.wait());
    CHECK(handler->close_code == 1002);
}

TEST_CASE_METHOD(LoneSession, "websocket peers that answer pings stay") {
    const bool answers = GENERATE(true, false);
    const auto begin = Steady::now();
    while (Steady::now() == begin) continue;  // so that an answer is later than the opening
    const auto now = Steady::now();
    CHECK(pings_at(session->next_tick()));
    CHECK(pings_at(session->next_tick()));
    if (answers) session->input(frame(net::FrameKind::pong, "", true));
    CHECK(pings_at(now + 30min) == answers);
    CHECK(is_open() == answers);
}

TEST_CASE_METHOD(LoneSession, "websocket peers are not dropped because the server stood still") {
    CHECK(pings_at(session->next_tick() + 10h));
    CHECK(is_open());
    for (int i = 0; i < 3; ++i) CHECK(pings_at(session->next_tick()));
    CHECK_FALSE(pings_at(session->next_tick()));
    CHECK_FALSE(is_open());
}

TEST_CASE("a websocket client answers pings") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "net-test-");
    Target target;
    target.unix_path = directory.path() / "socket";
    const FileDescriptor listener = net::bind_unix(target.unix_path, 0600, -1);
    std::string answer;
    std::jthread server([&] { answer = answer_to_ping(listener.get()); });
    CHECK(WebSocketClient(target, "/ws").receive(test::long_wait)->data == "text");
    server.join();
    REQUIRE(answer.size() > 10);
    CHECK(answer.substr(0, 2) == "\x8a\x84");  // masked by the four bytes that follow
    for (std::size_t i = 0; i < 4; ++i) CHECK((answer[6 + i] ^ answer[2 + i]) == "ping"[i]);
}

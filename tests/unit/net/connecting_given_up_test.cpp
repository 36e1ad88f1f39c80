// A client that waits for a server which says nothing gives up when it is told to, in each step.
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/error_code.h"
#include "tests/support/unserved_port.h"

using namespace svc;
using namespace svc::test;

namespace {

// A client of `target`, whose steps wait longer than the test does, and how its connecting ended.
struct Connecting {
    std::promise<std::optional<ErrorCode>> told;
    std::jthread client;

    explicit Connecting(const Target& target)
        : client([this, target](const std::stop_token& stop) {
              told.set_value(
                  code_of([&] { WebSocketClient(target, "/ws", Headers(), 2 * long_wait, stop); }));
          }) {}

    std::optional<ErrorCode> give_up() {
        auto end = told.get_future();
        client.request_stop();
        REQUIRE(end.wait_for(long_wait) == std::future_status::ready);
        return end.get();
    }
};

}  // namespace

TEST_CASE("connecting to a port that takes no connections is given up when that is asked for") {
    UnservedPort port;
    port.fill();
    Connecting connecting(port.target());
    CHECK(connecting.give_up() == ErrorCode::unavailable);
}

TEST_CASE("waiting for the answer of a server that says nothing is given up when that is asked for") {
    const bool tls = GENERATE(false, true);
    UnservedPort port;
    Connecting connecting(port.target(tls));
    const FileDescriptor connection = port.accept();
    CHECK(connecting.give_up() == ErrorCode::unavailable);
}

TEST_CASE("waiting for a proxy that says nothing is given up when that is asked for") {
    UnservedPort port;
    Target target = Target::parse("https://192.0.2.1:443");
    target.proxy.emplace();
    target.proxy->host = port.target().host;
    target.proxy->port = port.target().port;
    Connecting connecting(target);
    const FileDescriptor connection = port.accept();
    CHECK(connecting.give_up() == ErrorCode::unavailable);
}

TEST_CASE("what was given up before connects to nothing") {
    UnservedPort port;
    std::stop_source stopped;
    stopped.request_stop();
    CHECK(code_of([&] {
              WebSocketClient(port.target(), "/ws", Headers(), long_wait, stopped.get_token());
          }) == ErrorCode::unavailable);
}

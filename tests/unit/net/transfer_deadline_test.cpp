// How long the server waits for slow clients.
#include <poll.h>
#include <sys/socket.h>
#include <catch2/catch.hpp>

#include "libsvc/net/server/transfer_deadline.h"
#include "tests/unit/net/simple_handlers.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using net::TransferDeadline;

TEST_CASE("a pause is as long as the idle time at most") {
    const TransferDeadline::Instant now{};
    TransferDeadline transfer(30s, 1000);
    transfer.moved(1'000'000);
    CHECK(transfer.deadline(now) == now + 30s);
}

TEST_CASE("pauses that are short do not go on for ever") {
    const TransferDeadline::Instant now{};
    TransferDeadline transfer(30s, 1000);
    for (int i = 0; i < 20; ++i) {
        transfer.moved(1);
        transfer.waited(1s);
    }
    CHECK(transfer.deadline(now) == now + 10s + 20ms);
    transfer.moved(4980);
    CHECK(transfer.deadline(now) == now + 15s);
}

TEST_CASE("without a minimum rate only the idle time counts") {
    const TransferDeadline::Instant now{};
    TransferDeadline transfer(30s, 0);
    transfer.waited(10min);
    CHECK(transfer.deadline(now) == now + 30s);
}

// Each pause is short, and together they are too long.
TEST_CASE("a client that sends its body a byte at a time is cut") {
    TestServer t;
    t.limits.body_idle_time = 250ms;
    t.limits.min_rate = 1U << 30;
    t.service.add("/", echo);
    t.start();
    RawClient client(t.unix_target());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    while (!client.has_input(5ms)) client.send("x");
    CHECK(t.service.wait_for_done().status == 0);
}

// The kernel takes what comes first, so that it must be more than fits there.
TEST_CASE("a client that takes its reply a bit at a time is cut") {
    TestServer t;
    t.limits.write_idle_time = 250ms;
    t.limits.min_rate = 1U << 30;
    t.service.add("/", [](Request&) { return text_response(std::string(64U << 20, 'x')); });
    t.start();
    RawClient client(t.unix_target());
    client.send(get("/"));
    std::string piece(16U << 10, ' ');
    pollfd quiet{client.descriptor(), POLLHUP, 0};
    while (poll(&quiet, 1, 5) == 0) CHECK(recv(client.descriptor(), piece.data(), piece.size(), 0) > 0);
    CHECK(t.service.wait_for_done().sent == 0);
}

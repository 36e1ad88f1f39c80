#include "instance-agent/agent/phases/readiness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"

using namespace svc;

namespace {

ReadinessCheck port_check(std::uint16_t port) {
    ReadinessCheck check;
    check.port = port;
    return check;
}

// A socket on a port the kernel chose. While it does not listen nobody else can have the port, and nobody
// answers there.
struct Listener {
    explicit Listener(bool listens = true) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
        if (listens) REQUIRE(::listen(socket.get(), 1) == 0);
        REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
        port = ntohs(address.sin_port);
    }
    FileDescriptor socket;
    std::uint16_t port = 0;
};

}  // namespace

TEST_CASE("an empty check is always ready") {
    CHECK_FALSE(agent::why_not_ready({}));
}

TEST_CASE("a file makes ready by existing") {
    TemporaryDirectory folder("/tmp");
    ReadinessCheck check;
    check.file = folder.path() / "up";
    CHECK(agent::why_not_ready(check));
    write_file_atomically(check.file, "");
    CHECK_FALSE(agent::why_not_ready(check));
}

TEST_CASE("a command makes ready by exiting with 0, and its status is the reason otherwise") {
    ReadinessCheck check;
    check.command = "exit 3";
    CHECK_THAT(agent::why_not_ready(check).value_or(""), Catch::Contains("exits with 3"));
    check.command = "true";
    CHECK_FALSE(agent::why_not_ready(check));
}

TEST_CASE("a port makes ready by accepting connections") {
    const Listener open, closed(false);
    CHECK_FALSE(agent::why_not_ready(port_check(open.port)));
    CHECK_THAT(agent::why_not_ready(port_check(closed.port)).value_or(""),
               Catch::Contains("does not accept connections"));
}

TEST_CASE("all parts of a check must hold") {
    Listener listener;
    ReadinessCheck check = port_check(listener.port);
    check.file = "/nonexistent/up";
    CHECK(agent::why_not_ready(check));
}

// Clients whose connections stay: for one call after the other, or for an answer that does not end.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/net/client/kept_client.h"
#include "libsvc/net/client/streamed_call.h"
#include "tests/support/error_code.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;

namespace {

using Script = std::vector<std::string>;

// Takes a connection for each script, in turn, and answers each request on it with the next text.
class ScriptedServer {
  public:
    explicit ScriptedServer(std::vector<Script> scripts) {
        listener_ = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address_);
        auto* const any = reinterpret_cast<sockaddr*>(&address_);
        REQUIRE(bind(listener_.get(), any, size) == 0);
        REQUIRE(listen(listener_.get(), 8) == 0);
        REQUIRE(getsockname(listener_.get(), any, &size) == 0);
        thread_ = std::jthread([this, all = std::move(scripts)] {
            for (const Script& script : all) serve(script);
        });
    }
    Target target() const {
        return Target::parse("http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)));
    }
    void wait_for_end() { thread_.join(); }

  private:
    void serve(const Script& script) const {
        const FileDescriptor client(accept(listener_.get(), nullptr, nullptr));
        for (const std::string& answer : script) {
            std::array<char, 4096> request{};
            if (recv(client.get(), request.data(), request.size(), 0) <= 0) return;
            send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    }

    FileDescriptor listener_;
    sockaddr_in address_{};
    std::jthread thread_;
};

ClientRequest asking(const char* path) {
    ClientRequest request;
    request.path = path;
    return request;
}

constexpr const char* plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
constexpr const char* with_trailer =
    "HTTP/1.1 400 Bad Request\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\nA: "
    "b\r\n\r\n";
constexpr const char* last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
constexpr const char* endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n";

}  // namespace

TEST_CASE("calls share a connection, also behind a reply that ends with a trailer") {
    ScriptedServer server({Script{plain, with_trailer, last}, Script{plain}});
    KeptClient client(server.target());
    CHECK(client.call(asking("/1")).body == "ok");
    const ClientReply refused = client.call(asking("/2"));
    CHECK(refused.status == 400);
    CHECK(refused.body == "bad");
    CHECK(client.call(asking("/3")).body == "ok");
    CHECK(client.call(asking("/4")).body == "ok");  // over the second one
    server.wait_for_end();
}

TEST_CASE(
    "a kept connection that was closed without a byte is unavailable, and the next call makes another") {
    ScriptedServer server({Script{plain, ""}, Script{plain}});
    KeptClient client(server.target());
    CHECK(client.call(asking("/1")).body == "ok");
    CHECK(code_of([&] { client.call(asking("/2")); }) == ErrorCode::unavailable);
    CHECK(client.call(asking("/3")).body == "ok");
}

TEST_CASE("a streamed call gives what has come, nothing in a pause, and ends when it is interrupted") {
    ScriptedServer server({Script{endless, ""}});
    StreamedCall call(server.target(), asking("/"));
    CHECK(call.status() == 200);
    CHECK(call.read(std::chrono::minutes(1)) == "one");
    CHECK(call.read(std::chrono::milliseconds(1)) == std::nullopt);
    std::jthread other([&] { call.interrupt(); });
    CHECK(code_of([&] { call.read(std::chrono::minutes(1)); }) == ErrorCode::unavailable);
}

TEST_CASE("a streamed call tells a reply that came whole from one that was broken off") {
    ScriptedServer server({Script{plain}, Script{endless}});
    StreamedCall whole(server.target(), asking("/"));
    CHECK(whole.read(std::chrono::minutes(1)) == "ok");
    CHECK(code_of([&] { whole.read(std::chrono::minutes(1)); }) == ErrorCode::unavailable);
    CHECK(whole.complete());
    StreamedCall broken(server.target(), asking("/"));
    CHECK(broken.read(std::chrono::minutes(1)) == "one");
    CHECK(code_of([&] { broken.read(std::chrono::minutes(1)); }) == ErrorCode::unavailable);
    CHECK_FALSE(broken.complete());
}

TEST_CASE("a streamed call ends with its server") {
    ScriptedServer server({Script{endless}});
    StreamedCall call(server.target(), asking("/"));
    CHECK(call.read(std::chrono::minutes(1)) == "one");
    CHECK(code_of([&] { call.read(std::chrono::minutes(1)); }) == ErrorCode::unavailable);
}

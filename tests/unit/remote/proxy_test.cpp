#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/net/client/direct_call.h"
#include "libsvc/remote/proxy_choice.h"
#include "tests/support/error_code.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;

namespace {

// Takes one connection: reads a header, answers, and then passes bytes between the client and `behind` (port
// 0: nobody).
class TestProxy {
  public:
    TestProxy(std::string answer, std::uint16_t behind)
        : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          answer_(std::move(answer)),
          behind_(behind) {
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        REQUIRE(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
        REQUIRE(listen(listener_.get(), 1) == 0);
        REQUIRE(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this] { serve(); });
    }
    ~TestProxy() { shutdown(listener_.get(), SHUT_RDWR); }
    std::string url(const std::string& user = "") const {
        return "http://" + user + "127.0.0.1:" + std::to_string(port_);
    }
    std::string header() {
        thread_.join();
        return header_;
    }

  private:
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }
    void serve() {
        const FileDescriptor client(accept(listener_.get(), nullptr, nullptr));
        if (!client) return;
        for (char c = 0; !header_.ends_with("\r\n\r\n") && recv(client.get(), &c, 1, 0) == 1;) header_ += c;
        send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
        if (behind_ == 0) return;
        const FileDescriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_in address = loopback(behind_);
        if (connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
        while (pass(client.get(), server.get())) {
        }
    }
    // Copies the bytes of one side to the other; false at the end of either.
    static bool pass(int a, int b) {
        pollfd both[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
        if (poll(both, 2, 20'000) <= 0) return false;
        char buffer[4096];
        for (int i = 0; i < 2; ++i) {
            if ((both[i].revents & (POLLIN | POLLHUP)) == 0) continue;
            const ssize_t count = recv(both[i].fd, buffer, sizeof buffer, 0);
            if (count <= 0) return false;
            send(both[1 - i].fd, buffer, static_cast<std::size_t>(count), MSG_NOSIGNAL);
        }
        return true;
    }

    FileDescriptor listener_;
    std::string answer_, header_;
    std::uint16_t behind_, port_ = 0;
    std::jthread thread_;
};

}  // namespace

TEST_CASE("hosts and domains bypass the proxy") {
    const std::vector<std::string> ignored{"localhost", ".example.com", "Other.org"};
    for (const char* host : {"localhost", "example.com", "a.b.example.com", "other.org", "WWW.OTHER.ORG"})
        CHECK(bypasses_proxy(host, ignored));
    for (const char* host : {"local", "badexample.com", "example.com.evil.net", "127.0.0.1"})
        CHECK_FALSE(bypasses_proxy(host, ignored));
    CHECK(bypasses_proxy("anything", {"*"}));
    CHECK_FALSE(bypasses_proxy("anything", {""}));
}

TEST_CASE("each scheme has its proxy") {
    const std::string plain = "http://plain:1", secure = "http://secure:2";
    CHECK(by_proxy(Target::parse("https://a"), plain, secure, {}).proxy->host == "secure");
    CHECK(by_proxy(Target::parse("http://a"), plain, secure, {}).proxy->host == "plain");
    CHECK_FALSE(by_proxy(Target::parse("http://a"), "", secure, {}).proxy);
    CHECK_FALSE(by_proxy(Target::parse("https://a"), plain, secure, {"a"}).proxy);
    CHECK(code_of([&] { by_proxy(Target::parse("https://a"), "", "https://secure", {}); }) ==
          ErrorCode::invalid_argument);
}

TEST_CASE("a pinned server is reached through a tunnel") {
    TestServer server;
    server.with_tls = true;
    server.service.add("/x", [](Request&) { return text_response("here"); });
    server.start();
    Target target = server.tls_target();
    TestProxy proxy("HTTP/1.1 200 Connection established\r\n\r\n", target.port);
    target = by_proxy(target, "", proxy.url("user:p%40ss@"), {});
    ClientRequest request;
    request.path = "/x";
    CHECK(call_directly(target, request).body == "here");
    const std::string header = proxy.header();
    CHECK(header.starts_with("CONNECT 127.0.0.1:" + std::to_string(target.port) + " HTTP/1.1\r\n"));
    CHECK(header.find("Proxy-Authorization: Basic " + base64_encode("user:p@ss") + "\r\n") !=
          std::string::npos);
}

TEST_CASE("a plain request asks the proxy for the whole address") {
    TestProxy proxy("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 0);
    const Target target = by_proxy(Target::parse("http://images.invalid"), proxy.url(), "", {});
    ClientRequest request;
    request.path = "/x";
    CHECK(call_directly(target, request).body == "ok");
    CHECK(
        proxy.header().starts_with("GET http://images.invalid:80/x HTTP/1.1\r\nHost: images.invalid:80\r\n"));
}

TEST_CASE("a proxy that refuses makes the server unreachable") {
    TestProxy proxy("HTTP/1.1 403 Forbidden\r\n\r\n", 0);
    const Target target = by_proxy(Target::parse("https://registry.invalid"), "", proxy.url(), {});
    const auto words = message_of([&] { call_directly(target, {}); });
    CHECK(words.find("403 Forbidden") != std::string::npos);
}

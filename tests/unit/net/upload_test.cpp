#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t upload_bytes = 8U << 20;

class DigestSink : public BodySink {
  public:
    explicit DigestSink(Signal* destroyed = nullptr) : destroyed_(destroyed) {}
    ~DigestSink() override {
        if (destroyed_ != nullptr) destroyed_->set();
    }
    void write(std::string_view data) override {
        if (data.find("poison") != std::string_view::npos) throw Error(ErrorCode::exhausted, "disk is full");
        digest_.update(data);
    }
    void finish() override { hex = digest_.hex(); }
    std::string hex;

  private:
    Sha256 digest_;
    Signal* destroyed_;
};

RequestPlan upload_plan(Signal* destroyed = nullptr) {
    RequestPlan plan;
    plan.max_body = upload_bytes;
    plan.open_upload = [destroyed](Request& r) -> std::shared_ptr<BodySink> {
        if (!r.query_value("refuse").empty()) throw Error(ErrorCode::invalid_argument, "not wanted");
        return std::make_shared<DigestSink>(destroyed);
    };
    plan.handler = [](Request& r) { return text_response(static_cast<DigestSink&>(*r.upload).hex); };
    return plan;
}

// Deterministic, and unlike itself anywhere.
std::string some_bytes(std::size_t size) {
    std::string data(size, '\0');
    std::uint32_t state = 1;
    for (auto& c : data) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    return data;
}

ClientRequest upload_of(const std::string& data, bool sized) {
    ClientRequest request;
    request.method = Method::post;
    request.path = "/upload";
    auto position = std::make_shared<std::size_t>(0);
    request.source = [&data, position](std::size_t at_most) {
        const auto piece = data.substr(*position, std::min<std::size_t>(at_most, 100'000));
        *position += piece.size();
        return piece;
    };
    if (sized) request.length = data.size();
    return request;
}

class CountingSource : public BodySource {
  public:
    CountingSource(std::size_t size, bool known) : left_(size), known_(known) {}
    std::string read(std::size_t at_most) override {
        const std::size_t count = std::min({at_most, left_, std::size_t{70'000}});
        left_ -= count;
        return std::string(count, 's');
    }
    std::optional<std::uint64_t> length() const override {
        return known_ ? std::optional<std::uint64_t>(left_) : std::nullopt;
    }

  private:
    std::size_t left_;
    bool known_;
};

struct FailingSource : BodySource {
    bool failed = false;
    std::string read(std::size_t) override {
        if (std::exchange(failed, true)) throw Error(ErrorCode::internal, "disk is gone");
        return "beginning";
    }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }
};

}  // namespace

TEST_CASE("uploads reach their sink whole over every transport") {
    TestServer t;
    t.with_tcp = t.with_tls = true;
    t.service.add("/upload", upload_plan());
    t.start();
    const auto data = some_bytes(upload_bytes);
    const auto digest = sha256_hex(data);
    for (const auto& target : {t.unix_target(), t.tcp_target(), t.tls_target()}) {
        HttpClient client(target);
        for (const bool sized : {true, false, true}) {
            const auto reply = client.call(upload_of(data, sized));
            CHECK(reply.status == 200);
            CHECK(reply.body == digest);
            CHECK(t.service.wait_for_done().received == data.size());
        }
    }
}

TEST_CASE("an empty upload is finished too") {
    TestServer t;
    t.service.add("/upload", upload_plan());
    t.start();
    CHECK(ask(t.unix_target(), "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").body ==
          sha256_hex(""));
}

TEST_CASE("an upload over the limit is refused") {
    TestServer t;
    t.service.add("/upload", upload_plan());
    t.start();
    const std::string head = "POST /upload HTTP/1.1\r\nHost: x\r\n";
    CHECK(ask(t.unix_target(), head + "Content-Length: 9000000\r\n\r\n").status == 400);
    RawClient client(t.unix_target());
    client.send(head + "Transfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "40000\r\n" + std::string(0x40000, 'x') + "\r\n";
    int sent = 0;
    while (sent < 1000 && client.send(chunk)) ++sent;
    CHECK(sent < 1000);
}

TEST_CASE("a refused or failed upload is answered while the client still sends") {
    TestServer t;
    t.service.add("/upload", upload_plan());
    t.start();
    const std::string data = "poison" + some_bytes(upload_bytes - 6);
    const std::string length = "Content-Length: " + std::to_string(data.size()) + "\r\n\r\n";
    RawClient refused(t.unix_target());
    refused.send("POST /upload?refuse=1 HTTP/1.1\r\nHost: x\r\n" + length + data.substr(0, 500'000));
    CHECK(refused.reply().body == "not wanted");
    RawClient failed(t.unix_target());
    failed.send("POST /upload HTTP/1.1\r\nHost: x\r\n" + length + data.substr(0, 2'500'000));
    const auto reply = failed.reply();
    CHECK(reply.status == 503);
    CHECK(reply.body == "disk is full");
}

TEST_CASE("a client hears why its upload is refused") {
    TestServer t;
    t.with_tls = true;
    t.service.add("/upload", upload_plan());
    t.start();
    const std::string data = "poison" + some_bytes(upload_bytes - 6);
    for (const auto& target : {t.unix_target(), t.tls_target()}) {
        HttpClient client(target);
        ClientRequest refused = upload_of(data, true);
        refused.path = "/upload?refuse=1";
        CHECK(client.call(refused).body == "not wanted");
        CHECK(client.call(upload_of(data, true)).body == "disk is full");
    }
}

TEST_CASE("a broken upload destroys its sink unfinished") {
    Signal destroyed;
    TestServer t;
    t.service.add("/upload", upload_plan(&destroyed));
    t.start();
    {
        RawClient client(t.unix_target());
        client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n" +
                    some_bytes(1'500'000));
    }
    CHECK(destroyed.wait());
    CHECK(t.service.wait_for_done().status == 0);
}

TEST_CASE("one upload too many is answered") {
    Signal destroyed;
    TestServer t;
    t.limits.uploads_at_once = 1;
    t.service.add("/upload", upload_plan(&destroyed));
    t.start();
    const std::string head =
        "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    RawClient first(t.unix_target());
    first.send(head);
    CHECK(first.reply().status == 100);
    CHECK(ask(t.unix_target(), head).status == 503);
    first.send("abc");
    CHECK(first.reply().body == sha256_hex("abc"));
    CHECK(ask(t.unix_target(), "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc").status ==
          200);
}

TEST_CASE("responses stream with and without length") {
    TestServer t;
    t.with_tls = true;
    const bool known = GENERATE(true, false);
    t.service.add("/stream", [known](Request&) {
        Response response;
        response.source = std::make_unique<CountingSource>(3'000'000, known);
        return response;
    });
    t.start();
    ClientRequest request;
    request.path = "/stream";
    std::size_t received = 0;
    request.sink = [&](std::string_view data) { received += data.size(); };
    HttpClient client(t.tls_target());
    for (int i = 0; i < 2; ++i) CHECK(client.call(request).status == 200);
    call_directly(t.unix_target(), request);
    CHECK(received == 9'000'000);
    CHECK(t.service.wait_for_done().sent == 3'000'000);

    RawClient old(t.unix_target());
    old.send("GET /stream HTTP/1.0\r\n\r\n");
    const auto all = old.read_to_end();
    CHECK(all.size() - all.find("\r\n\r\n") - 4 == 3'000'000);

    RawClient head(t.unix_target());
    head.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK((head.reply(true).head.find("Content-Length: 3000000") != std::string::npos) == known);
}

TEST_CASE("a source that fails breaks the connection") {
    TestServer t;
    t.service.add("/stream", [](Request&) {
        Response response;
        response.source = std::make_unique<FailingSource>();
        return response;
    });
    t.start();
    RawClient client(t.unix_target());
    client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(client.read_to_end().find("\r\n0\r\n\r\n") == std::string::npos);
    ClientRequest request;
    request.path = "/stream";
    CHECK_THROWS_AS(HttpClient(t.unix_target()).call(request), Error);
    CHECK_THROWS_AS(call_directly(t.unix_target(), request), Error);
}

TEST_CASE("a client error in sink or source reaches its caller") {
    TestServer t;
    t.service.add("/upload", upload_plan());
    t.service.add("/", [](Request&) { return text_response("hello"); });
    t.start();
    HttpClient client(t.unix_target());
    ClientRequest request;
    request.path = "/";
    request.sink = [](std::string_view) { throw Error(ErrorCode::exhausted, "no room"); };
    CHECK_THROWS_WITH(client.call(request), "no room");
    ClientRequest upload;
    upload.method = Method::post;
    upload.path = "/upload";
    upload.source = [](std::size_t) -> std::string { throw Error(ErrorCode::exhausted, "cannot read"); };
    CHECK_THROWS_WITH(client.call(upload), "cannot read");
}

TEST_CASE("the client learns why its upload was refused") {
    TestServer t;
    t.with_tls = true;
    t.service.add("/upload", upload_plan());
    t.start();
    const auto early = "poison" + some_bytes(upload_bytes - 6);
    const auto late = some_bytes(upload_bytes / 2) + "poison" + some_bytes(upload_bytes / 2 - 6);
    for (const auto& target : {t.unix_target(), t.tls_target()}) {
        HttpClient client(target);
        for (const bool sized : {true, false}) {
            CHECK(client.call(upload_of(early, sized)).body == "disk is full");
            CHECK(client.call(upload_of(late, sized)).body == "disk is full");
            ClientRequest refused = upload_of(early, sized);
            refused.path = "/upload?refuse=1";
            CHECK(client.call(refused).body == "not wanted");
        }
    }
}

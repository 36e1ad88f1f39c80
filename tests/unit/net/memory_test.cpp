// What requests and replies may take of the server's memory, and what is kept for root.
#include <optional>

#include "libsvc/net/client/client.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/simple_handlers.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t body_bytes = 300'000;

// Holds bodies in memory until it is told to answer.
struct Holder {
    Holder() {
        server.limits.buffered_bytes = 1'000'000;
        server.standing = Standing::trusted;
        server.service.add("/", [this](Request&) {
            ++held;
            release.wait();
            return text_response("done");
        });
        server.service.add("/free", hello);
    }
    ~Holder() { release.set(); }
    static std::string post(std::size_t length, std::size_t sent) {
        return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
               std::string(sent, 'x');
    }
    std::atomic<int> held = 0;  // requests whose bodies are in memory
    Signal release;
    TestServer server;
};

// Small pieces without end, of what takes a lot of memory.
struct HoldingSource final : BodySource {
    std::string read(std::size_t) override { return std::string(1000, 'x'); }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }
    std::size_t held_bytes() const override { return 8U << 20; }
};

Response holding_response() {
    Response response;
    response.source = std::make_unique<HoldingSource>();
    return response;
}

// A large reply over the Unix socket that its client does not take, and a request there that waits for it.
struct FullOfReplies {
    FullOfReplies(Standing of_unix, Standing of_tcp, const std::string& path = "/big") {
        server.limits.reply_bytes = 4U << 20;
        server.limits.write_idle_time = 10min;
        server.limits.min_rate = 0;
        server.with_tcp = true;
        server.standing = of_unix;
        server.tcp_standing = of_tcp;
        server.service.add("/big", [](Request&) { return text_response(std::string(8U << 20, 'x')); });
        server.service.add("/holding", [](Request&) { return holding_response(); });
        server.service.add("/", hello);
        server.start();
        slow.emplace(server.unix_target()).send(get(path));
        waiting.emplace(server.unix_target());
        test::eventually("a request waits", [this] {
            waiting->send(get("/"));
            if (!waiting->has_input(100ms)) return true;
            CHECK(waiting->reply().body == "hello");
            return false;
        });
    }
    std::string answer_over_tcp() {
        ClientRequest request;
        request.path = "/";
        return HttpClient(server.tcp_target()).call(request).body;
    }
    std::string answer_when_there_is_room() {
        slow.reset();
        return waiting->reply().body;
    }
    TestServer server;
    std::optional<RawClient> slow, waiting;
};

}  // namespace

TEST_CASE("bodies that do not fit into memory together are refused") {
    Holder holder;
    holder.server.start();
    RawClient first(holder.server.unix_target());
    RawClient second(holder.server.unix_target());
    first.send(Holder::post(body_bytes, body_bytes));
    second.send(Holder::post(body_bytes, body_bytes));
    test::eventually("two bodies are held", [&] { return holder.held == 2; });
    const RawReply third = ask(holder.server.unix_target(), Holder::post(body_bytes, body_bytes - 1));
    CHECK(third.status == 503);
    CHECK(third.body == "too many requests are being received");
    CHECK(ask(holder.server.unix_target(), get("/free")).body == "hello");
    holder.release.set();
    CHECK(first.reply().body == "done");
    CHECK(second.reply().body == "done");
    CHECK(ask(holder.server.unix_target(), Holder::post(body_bytes, body_bytes)).body == "done");
}

TEST_CASE("a body that is announced takes no memory before it comes") {
    Holder holder;
    holder.server.start();
    std::vector<RawClient> announcing;
    for (int i = 0; i < 50; ++i) announcing.emplace_back(holder.server.unix_target());
    for (RawClient& client : announcing) client.send(Holder::post(1'000'000, 1));
    holder.release.set();
    CHECK(ask(holder.server.unix_target(), Holder::post(body_bytes, body_bytes)).body == "done");
}

TEST_CASE("long halves of headers are limited in their memory too") {
    Holder holder;
    holder.server.limits.header_bytes = 1U << 20;
    holder.server.start();
    std::vector<RawClient> clients;
    for (int i = 0; i < 20; ++i) clients.emplace_back(holder.server.unix_target());
    for (RawClient& client : clients) client.send("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x'));
    test::eventually("one of them is refused", [&] {
        for (RawClient& client : clients)
            if (client.has_input(0ms)) return client.reply().status == 503;
        return false;
    });
    CHECK(ask(holder.server.unix_target(), get("/free")).body == "hello");
}

TEST_CASE("large replies to those who are not trusted keep no trusted request waiting") {
    FullOfReplies full(Standing::untrusted, Standing::trusted);
    CHECK(full.answer_over_tcp() == "hello");
    CHECK(full.answer_when_there_is_room() == "hello");
}

TEST_CASE("requests wait while large replies lie in memory and root's do not") {
    FullOfReplies full(Standing::trusted, Standing::reserved);
    CHECK(full.answer_over_tcp() == "hello");
    CHECK(full.answer_when_there_is_room() == "hello");
}

TEST_CASE("what the source of a reply holds in memory counts as a large reply") {
    FullOfReplies full(Standing::trusted, Standing::reserved, "/holding");
    CHECK(full.answer_over_tcp() == "hello");
    CHECK(full.answer_when_there_is_room() == "hello");
}

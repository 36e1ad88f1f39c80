// The relay behind a real server: threads, sockets that are slow, connections that break.
#include <poll.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "libsvc/streaming/relay/relay.h"
#include "tests/support/deaf.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using Kind = WebSocketMessage::Kind;

namespace {

constexpr auto patience = 60s;

// /master?session=S and /slave?session=S&client=C, the latter once for each expect().
struct RelayServer : TestServer {
    explicit RelayServer(RelayLimits relay_limits = no_rate()) : relay(clock, relay_limits) {
        relay.listen(events);
        with_tls = true;
        limits.websocket.max_message = relay_limits.message_bytes;
        service.add("/master", [this](Request& request) {
            return upgrade(relay.master(request.query_value("session")));
        });
        service.add("/slave", [this](Request& request) {
            return upgrade(relay.slave(request.query_value("session"), request.query_value("client")));
        });
    }
    ~RelayServer() { server().stop(0ms); }  // nobody calls what is gone
    static RelayLimits no_rate() {
        RelayLimits limits;
        limits.client_messages_per_minute = limits.instance_messages_per_minute = 10'000'000;
        return limits;
    }
    static Response upgrade(std::shared_ptr<WebSocketHandler> handler) {
        Response response;
        response.websocket = std::move(handler);
        return response;
    }
    void start_with_a_session() {
        start();
        relay.open("s");
    }
    WebSocketClient instance(const std::string& session, const Target& target) const {
        WebSocketClient instance(target, "/master?session=" + session);
        instance.send_text(R"({"type":"ctl:register","session_id":")" + session + "\"}");
        return instance;
    }
    WebSocketClient registered(const std::string& session, const Target& target) const {
        auto socket = instance(session, target);
        test::eventually("the instance is registered", [&] { return relay.is_registered(session); });
        return socket;
    }
    WebSocketClient client(const std::string& session, const std::string& id, const Target& target) {
        relay.expect(session, RelayClient{id, Json::array(), {}});
        return {target, "/slave?session=" + session + "&client=" + id};
    }
    SystemClock clock;
    Deaf events;
    Relay relay;
};

Json next(WebSocketClient& socket) {
    const auto message = socket.receive(patience);
    if (!message) throw Error(ErrorCode::unavailable, "no message came");
    if (message->kind != Kind::text) throw Error(ErrorCode::unavailable, "closed: " + message->data);
    return Json::parse(message->data);
}

std::string type_of(const Json& message) {
    return message.at("type").as_string();
}

std::string numbered(int number, std::string_view client = "", std::size_t padding = 0) {
    Json message = Json::object({{"type", "n"}, {"n", number}});
    if (!client.empty()) message.set("client_id", client);
    if (padding > 0) message.set("padding", std::string(padding, 'x'));
    return message.dump();
}

// Numbers in order until `end`; other messages are passed over.
int count_numbers(WebSocketClient& socket, int end) {
    int in_order = 0;
    while (in_order < end) {
        const auto received = socket.receive(patience);
        if (!received || received->kind != Kind::text) break;
        const Json message = Json::parse(received->data);
        if (type_of(message) != "n") continue;
        if (message.at("n").as_int() != in_order) break;
        ++in_order;
    }
    return in_order;
}

WebSocketMessage last_of(WebSocketClient& socket, std::vector<std::string>* types = nullptr) {
    for (;;) {
        const auto message = socket.receive(patience);
        if (!message) throw Error(ErrorCode::unavailable, "no end came");
        if (message->kind == Kind::closed) return *message;
        if (types != nullptr) types->push_back(type_of(Json::parse(message->data)));
    }
}

// Of the session "s": the instance knows of its client.
struct NetworkConversation {
    NetworkConversation(RelayServer& server, const Target& of_instance, const Target& of_client)
        : instance(server.registered("s", of_instance)), client(server.client("s", "c", of_client)) {
        REQUIRE(type_of(next(instance)) == "ctl:client-joined");
    }
    WebSocketClient instance, client;
};

}  // namespace

TEST_CASE("signalling under load keeps order both ways in every session") {
    constexpr int sessions = 8, messages = 1000;
    RelayServer t;
    t.start();
    std::atomic<int> right{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < sessions; ++i) {
        const std::string id = "s" + std::to_string(i);
        const Target target = i % 2 == 0 ? t.tls_target() : t.unix_target();
        t.relay.open(id);
        threads.emplace_back([&t, &right, id, target] {
            auto instance = t.registered(id, target);
            auto client = t.client(id, "c", target);
            if (type_of(next(instance)) != "ctl:client-joined") return;
            std::jthread sender([&] {
                for (int n = 0; n < messages; ++n) client.send_text(numbered(n));
            });
            std::jthread back([&] {
                for (int n = 0; n < messages; ++n) instance.send_text(numbered(n, "c"));
            });
            std::jthread reader([&] { right += count_numbers(client, messages); });
            right += count_numbers(instance, messages);
        });
    }
    threads.clear();
    CHECK(right == 2 * sessions * messages);
}

TEST_CASE("an instance that reconnects gets what was said meanwhile") {
    RelayServer t;
    t.start_with_a_session();
    auto client = t.client("s", "c", t.tls_target());
    int sent = 0;
    const auto say_some = [&] {
        for (int i = 0; i < 20; ++i) client.send_text(numbered(sent++));
    };
    int seen = 0;
    const auto read_some = [&](WebSocketClient& instance) {
        while (seen < sent) {
            const Json message = next(instance);
            if (type_of(message) == "n") CHECK(message.at("n").as_int() == seen++);
        }
    };
    say_some();
    for (int round = 0; round < 5; ++round) {
        auto instance = t.registered("s", t.tls_target());
        read_some(instance);
        say_some();
        read_some(instance);
        instance.close();
        CHECK(last_of(instance).close_code == 1000);
        say_some();
    }
    auto instance = t.registered("s", t.tls_target());
    read_some(instance);
    instance.send_text(R"({"type":"offer","client_id":"c"})");
    CHECK(type_of(next(client)) == "offer");
}

TEST_CASE("a second client takes over and a grant cannot be used again") {
    RelayServer t;
    t.start_with_a_session();
    auto instance = t.registered("s", t.tls_target());
    auto first = t.client("s", "a", t.tls_target());
    CHECK(type_of(next(instance)) == "ctl:client-joined");
    auto second = t.client("s", "b", t.tls_target());
    const auto end = last_of(first);
    CHECK(end.close_code == 1000);
    CHECK(end.data == "replaced");
    CHECK(next(instance).at("reason") == Json("replaced"));
    CHECK(next(instance).at("client_id") == Json("b"));
    CHECK_THROWS_WITH(WebSocketClient(t.tls_target(), "/slave?session=s&client=b"), Catch::Contains("400"));
    second.send_text(R"({"type":"discover"})");
    CHECK(type_of(next(instance)) == "discover");
}

TEST_CASE("a client that floods or sends too much at once is ended") {
    RelayLimits limits;
    limits.client_messages_per_minute = 100;
    limits.message_bytes = 10'000;
    RelayServer t(limits);
    t.start_with_a_session();
    NetworkConversation talk(t, t.tls_target(), t.tls_target());
    std::vector<std::string> types;
    SECTION("flood") {
        for (int n = 0; n < 101; ++n) talk.client.send_text(numbered(n));
        CHECK(count_numbers(talk.instance, 100) == 100);
        const auto end = last_of(talk.client, &types);
        CHECK(end.close_code == 1008);
        CHECK(end.data == "too many messages");
        CHECK(types == std::vector<std::string>{"error"});
    }
    SECTION("huge") {
        talk.client.send_text(numbered(0, "", 20'000));
        CHECK(last_of(talk.client).close_code == 1009);
    }
    SECTION("not text") {
        talk.client.send_text("\xff\xfe");
        CHECK(last_of(talk.client).close_code != 1000);
    }
    CHECK(type_of(next(talk.instance)) == "ctl:client-left");
}

TEST_CASE("a client that stalls is ended and the instance hears of it") {
    RelayServer t;
    t.start_with_a_session();
    NetworkConversation talk(t, t.tls_target(), t.unix_target());
    std::jthread sender([&](std::stop_token stop) {
        for (int n = 0; !stop.stop_requested(); ++n) talk.instance.send_text(numbered(n, "c", 50'000));
    });
    const Json left = next(talk.instance);
    sender.request_stop();
    CHECK(left.at("reason") == Json("timeout"));
    CHECK(t.relay.is_registered("s"));
}

TEST_CASE("an instance that stalls holds its client back and loses nothing") {
    constexpr int messages = 200;
    RelayServer t;
    t.start_with_a_session();
    NetworkConversation talk(t, t.unix_target(), t.unix_target());
    std::atomic<int> sent{0};
    std::jthread sender([&] {
        for (; sent < messages; ++sent) talk.client.send_text(numbered(sent, "", 50'000));
    });
    pollfd writable{talk.client.descriptor(), POLLOUT, 0};
    test::eventually("the client is held back", [&] { return poll(&writable, 1, 0) == 0; });
    CHECK(sent < messages);
    CHECK(count_numbers(talk.instance, messages) == messages);
    CHECK(t.relay.is_registered("s"));
}

TEST_CASE("clients and instances that come and go at once do no harm") {
    constexpr int rounds = 20;
    RelayServer t;
    t.start_with_a_session();
    const auto try_often = [&](auto&& once) {
        return std::jthread([&t, once](std::stop_token) {
            for (int i = 0; i < rounds; ++i) {
                try {
                    once(t, i);
                } catch (const Error&) {
                    continue;  // ended by somebody else: that is what this is about
                }
            }
        });
    };
    {
        std::vector<std::jthread> threads;
        for (const std::string name : {"a", "b"})
            threads.push_back(try_often([name](RelayServer& server, int i) {
                auto client = server.client("s", name + std::to_string(i), server.unix_target());
                for (int n = 0; n < 10; ++n) client.send_text(numbered(n));
            }));
        for (int i = 0; i < 2; ++i)
            threads.push_back(try_often([](RelayServer& server, int) {
                auto instance = server.instance("s", server.unix_target());
                for (int n = 0; n < 10; ++n) instance.send_text(numbered(n, "a1"));
                instance.receive(1ms);
            }));
        threads.push_back(try_often([](RelayServer& server, int) { server.relay.tick(); }));
        threads.push_back(
            try_often([](RelayServer& server, int) { server.relay.fail_client("s", "tried"); }));
    }
    // The server may still serve the last connection after its client has gone; it would be taken for the
    // instance that registers next.
    test::eventually("all connections have ended", [&] { return t.server().connections() == 0; });
    auto instance = t.registered("s", t.unix_target());
    auto client = t.client("s", "last", t.unix_target());
    client.send_text(R"({"type":"discover"})");
    while (type_of(next(instance)) != "discover") continue;
    t.relay.close("s", "done");
    std::vector<std::string> types;
    CHECK(last_of(client, &types).close_code == 1000);
    CHECK(types == std::vector<std::string>{"error"});
    CHECK(last_of(instance, &types).close_code == 1000);
    CHECK(types.back() == "ctl:terminate");
    CHECK(t.relay.sessions() == 0);
}

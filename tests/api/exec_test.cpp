// Commands in instances, over real sockets.
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "libsvc/base/json.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct ExecWorld {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string image = api.add_image("base", image_package());

    ApiReply start(const JsonArray& command) {
        const std::string url = "/1.0/instances/" + api.launch("base") + "/exec";
        return api.post(url, Json::object({{"command", command}}));
    }
};

// A command's sockets as a client has them.
struct Streams {
    Streams(const Target& target, const ApiReply& accepted) : target(target), accepted(accepted) {}
    WebSocketClient open(const char* fd) const {
        const Json fds = accepted.metadata().at("metadata").at("fds");
        return {target, accepted.operation() + "/websocket?secret=" + fds.at(fd).as_string()};
    }
    const Target target;
    const ApiReply accepted;
    WebSocketClient control = open("control"), input = open("0"), output = open("1"), errors = open("2");
};

// Everything a socket says until it is closed.
std::string read_all(WebSocketClient& socket) {
    std::string text;
    while (auto message = socket.receive(long_wait)) {
        if (message->kind == WebSocketMessage::Kind::closed) break;
        text += message->data;
    }
    return text;
}

// The connection ends, and no close frame has said so.
void cut(const WebSocketClient& socket) {
    REQUIRE(shutdown(socket.descriptor(), SHUT_RDWR) == 0);
}

// Of `cat`: it runs then.
void await_echo(Streams& streams) {
    streams.input.send_binary("x");
    REQUIRE(streams.output.receive(long_wait)->data == "x");
}

}  // namespace

TEST_CASE_METHOD(ExecWorld, "a command runs and its exit code is the operations") {
    const ApiReply accepted = start({"echo", "hello"});
    REQUIRE(accepted.status == 202);
    Streams streams(api.target(), accepted);
    CHECK(read_all(streams.output) == "hello\n");
    CHECK(read_all(streams.errors).empty());
    const Json operation = api.wait(accepted);
    CHECK(operation.at("status_code") == Json(200));
    CHECK(operation.at("metadata").at("return") == Json(0));
}

TEST_CASE_METHOD(ExecWorld, "an input that ends without a close frame has ended") {
    const KeyPair identity = make_key_pair(daemon.path(), "client");
    daemon.trust(identity);
    const std::string block(300'000, 'x');
    for (const Target& target : {daemon.local_target(), daemon.tls_target(identity)}) {
        const ApiReply accepted = start({"cat"});
        Streams streams(target, accepted);
        std::jthread sender([&] {
            for (int sent = 0; sent < 10; ++sent) streams.input.send_binary(block);
            cut(streams.input);
        });
        CHECK(read_all(streams.output).size() == 10 * block.size());
        CHECK(api.wait(accepted).at("metadata").at("return") == Json(0));
    }
}

TEST_CASE_METHOD(ExecWorld, "a command ends with the sockets of its output and control") {
    for (const auto socket : {&Streams::output, &Streams::errors, &Streams::control}) {
        const ApiReply accepted = start({"cat"});
        Streams streams(api.target(), accepted);
        await_echo(streams);
        cut(streams.*socket);
        CHECK(api.wait(accepted).at("metadata").at("return") == Json(128 + 9));
    }
}

TEST_CASE_METHOD(ExecWorld, "an input cut within a message ends its command") {
    const ApiReply accepted = start({"cat"});
    Streams streams(api.target(), accepted);
    await_echo(streams);
    const std::string half("\x82\x85\0\0\0\0ab", 8);  // two bytes of five
    REQUIRE(send(streams.input.descriptor(), half.data(), half.size(), MSG_NOSIGNAL) == 8);
    cut(streams.input);
    CHECK(api.wait(accepted).at("metadata").at("return") == Json(128 + 9));
}

TEST_CASE_METHOD(ExecWorld, "the secrets of a command are shown once, also to who has asked for it") {
    const ApiReply accepted = start({"cat"});
    const Json fds = accepted.metadata().at("metadata").at("fds");
    REQUIRE(fds.as_object().size() == 4);
    const auto tells = [&](const ApiReply& reply) {
        REQUIRE(reply.status == 200);
        REQUIRE(reply.text.find(accepted.operation_id()) != std::string::npos);
        return reply.text.find("fds") != std::string::npos ||
               std::ranges::any_of(fds.as_object(), [&](const auto& secret) {
                   return reply.text.find(secret.second.as_string()) != std::string::npos;
               });
    };
    CHECK_FALSE(tells(api.get(accepted.operation())));
    CHECK_FALSE(tells(api.get("/1.0/operations?recursion=1")));
    CHECK_FALSE(tells(api.get(accepted.operation() + "/wait?timeout=0")));
    Streams streams(api.target(), accepted);
    await_echo(streams);
    const auto again = [&](const char* fd) {
        const ApiReply refused =
            api.get(accepted.operation() + "/websocket?secret=" + fds.at(fd).as_string());
        return refused.status;
    };
    CHECK(again("0") == 400);
    CHECK_THROWS_AS(streams.open("0"), Error);  // it was good once
    api.remove(accepted.operation());
    CHECK_FALSE(tells(api.get(accepted.operation() + "/wait?timeout=60")));
    CHECK_THROWS_AS(streams.open("control"), Error);
}

TEST_CASE_METHOD(ExecWorld, "a command ends with its session, though its sockets were opened without it") {
    const std::string instance = api.launch("base");
    ApiCaller browser(daemon.tls_target());
    const Json link = api.post("/1.0/sessions/links", Json::object({{"name", "alice"}})).metadata();
    const ApiReply opened = browser.post("/1.0/sessions", Json::object({{"link", link.at("secret")}}));
    const std::string set = opened.headers.get("Set-Cookie");
    Headers headers;
    headers.set("Cookie", set.substr(0, set.find(';')));
    headers.set("X-Svc-Session-Key", opened.metadata().at("key").as_string());
    headers.set("Sec-Fetch-Site", "same-origin");
    const ApiReply accepted =
        browser.call(Method::post, "/1.0/instances/" + instance + "/exec", R"({"command":["cat"]})", headers);
    REQUIRE(accepted.status == 202);
    Streams streams(daemon.tls_target(), accepted);
    await_echo(streams);
    CHECK(browser.call(Method::delete_, "/1.0/sessions/current", "", headers).status == 200);
    CHECK(read_all(streams.output).empty());
    CHECK(api.wait(accepted).at("status") == Json("Cancelled"));
}

TEST_CASE_METHOD(ExecWorld, "exec checks its request and its secrets") {
    const std::string url = "/1.0/containers/" + api.launch("base") + "/exec";
    CHECK(api.post(url, Json::object({{"command", JsonArray{}}})).status == 400);
    CHECK(api.post("/1.0/containers/x/exec", Json::object({{"command", JsonArray{"true"}}})).status == 404);
    const ApiReply accepted = api.post(url, Json::object({{"command", JsonArray{"true"}}}));
    const std::string socket = accepted.operation() + "/websocket";
    ApiCaller guest(daemon.tls_target());
    CHECK(guest.get(socket).error() == "missing secret");
    CHECK(guest.get(socket).status == 401);
    CHECK(guest.get(socket + "?secret=" + std::string(64, '0')).status == 400);  // no upgrade
    CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), socket + "?secret=" + std::string(64, '0')), Error);
    CHECK(guest.get("/1.0/operations/0/websocket").status == 401);
    api.remove(accepted.operation());
    api.wait(accepted);
}

}  // namespace svc::test

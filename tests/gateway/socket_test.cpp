#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

// A session with its two addresses.
struct SocketWorld : TestGateway {
    std::string token = TestGateway::token("alice");
    Json session = create(token, Json::parse(R"({"app":"app","joinable":true,"idle_time_min":0})"));
    std::string id = session.at("id").as_string();
    std::string slave = session.at("url").as_string();
    std::string master = master_of(id);

    std::string master_of(const std::string& of) {
        eventually("launch", [&] { return !launched(of).empty(); });
        return launched(of);
    }
    std::string launched(const std::string& of) {
        for (const StreamLaunch& launch : region().launches())
            if (launch.session == of) return launch.user_data.at("streaming").at("control_url").as_string();
        return "";
    }
    std::optional<ErrorCode> refusal(const std::string& url) const {
        return code_of([&] { open(url); });
    }
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string path_of(const std::string& url) {
    return url.substr(url.find('/', 6));
}

}  // namespace

TEST_CASE_METHOD(SocketWorld, "each socket opens for its own role alone") {
    CHECK(refusal(replaced(slave, "sockets/slave", "sockets/master")) == ErrorCode::forbidden);
    CHECK(refusal(replaced(master, "sockets/master", "sockets/slave")) == ErrorCode::forbidden);
    CHECK_FALSE(refusal(master));
    CHECK_FALSE(refusal(slave));
}

TEST_CASE_METHOD(SocketWorld, "a clients token opens one connection") {
    const WebSocketClient client = open(slave);
    CHECK(refusal(slave) == ErrorCode::forbidden);
    CHECK(message_of([&] { open(slave); }) == "token was used already");
}

TEST_CASE_METHOD(SocketWorld, "media before there is an instance that takes it is answered 503") {
    Headers headers;
    for (const auto& [name, value] : {std::pair("Upgrade", "websocket"),
                                      {"Connection", "Upgrade"},
                                      {"Sec-WebSocket-Version", "13"},
                                      {"Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}})
        headers.set(name, value);
    const ApiReply refused =
        caller().call(Method::get, path_of(session.at("media_url").as_string()), "", headers);
    CHECK(refused.status == 503);
    CHECK(refused.error() == "the instance sends no media through the gateway");
}

TEST_CASE_METHOD(SocketWorld, "a clients token is good for five minutes") {
    advance(std::chrono::minutes(5) + std::chrono::seconds(1));
    CHECK(refusal(slave) == ErrorCode::forbidden);
}

TEST_CASE_METHOD(SocketWorld, "an instance's token lives as long as its session") {
    { ScriptedInstance instance(*this, id); }
    await_status(token, id, "active");
    advance(std::chrono::hours(2));
    CHECK_FALSE(refusal(master));
    REQUIRE(call(Method::delete_, "/1.0/sessions/" + id + "?sync=true", token).status == 200);
    CHECK(refusal(master) == ErrorCode::not_found);
}

TEST_CASE_METHOD(SocketWorld, "tokens of other sessions are foreign") {
    const Json other = create(token);
    const std::string other_id = other.at("id").as_string();
    CHECK(refusal(replaced(slave, id, other_id)) == ErrorCode::forbidden);
    CHECK(refusal(replaced(master, id, other_id)) == ErrorCode::forbidden);
    CHECK(refusal(replaced(slave, id, "00000000000000000000")) == ErrorCode::not_found);
    CHECK(refusal(replaced(slave, id, "x")) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(SocketWorld, "what is no token is forbidden") {
    const std::string bare = slave.substr(0, slave.find("?token="));
    for (const std::string& query : {std::string(), std::string("?token="), std::string("?token=x"),
                                     "?token=" + token, "?api_token=" + token})
        CHECK(refusal(bare + query) == ErrorCode::forbidden);
}

TEST_CASE_METHOD(SocketWorld, "a socket route without an upgrade is refused and uses nothing up") {
    ApiCaller plain = caller();
    for (const std::string& url : {slave, master}) {
        const ApiReply reply = plain.get(path_of(url));
        CHECK(reply.status == 400);
        CHECK(reply.error() == "websocket upgrade expected");
        CHECK(reply.json().at("status") == Json("failed"));
    }
    CHECK_FALSE(refusal(slave));
}

TEST_CASE_METHOD(SocketWorld, "the older spelling of the sockets works") {
    CHECK_FALSE(refusal(replaced(master, "/1.0/sessions/", "/1.0/session/")));
    CHECK_FALSE(refusal(replaced(slave, "/1.0/sessions/", "/1.0/session/")));
    const Json second = create(token);
    CHECK_FALSE(refusal(replaced(second.at("url").as_string(), "/slave?", "/slave/?")));
}

TEST_CASE_METHOD(SocketWorld, "sockets of an ended session are not found") {
    ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    WebSocketClient client = open(slave);
    REQUIRE(call(Method::delete_, "/1.0/sessions/" + id + "?sync=true", token).status == 200);
    CHECK(receive_close(client).close_code != 1006);
    CHECK(refusal(slave) == ErrorCode::not_found);
    CHECK(refusal(master) == ErrorCode::not_found);
}

TEST_CASE_METHOD(SocketWorld, "a message that is too long ends the connection") {
    WebSocketClient client = open(slave);
    try {
        client.send_text(std::string((256U << 10U) + 1, 'x'));
    } catch (const Error&) {
        // The gateway may close before it is all sent.
    }
    const std::uint16_t code = receive_close(client).close_code;
    CHECK((code == 1009 || code == 1006));
    ScriptedInstance instance(*this, id);
    CHECK(await_status(token, id, "active").at("id") == Json(id));
}

}  // namespace svc::test

// The contract of a client SDK (docs/streaming.md), step by step, with an instance that the test plays.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

Json message(const std::string& text) {
    return Json::parse(text);
}

// The client's id of a message on the instance's side, which is the first member.
std::string client_of(const Json& relayed) {
    CHECK(relayed.as_object().front().first == "client_id");
    return relayed.at("client_id").as_string();
}

void reply(ScriptedInstance& instance, const std::string& client, const std::string& text) {
    Json with_client = message(text);
    with_client.set("client_id", client);
    instance.send(with_client);
}

struct StreamWorld : TestGateway {
    std::string token = TestGateway::token("alice");
    Json joinable = message(R"({"app":"app","joinable":true,"idle_time_min":10})");
    ApiReply join(const std::string& id) {
        return call(Method::post, "/1.0/sessions/" + id + "/join", token,
                    message(R"({"screen":{"width":640,"height":360}})"));
    }
};

// The browser asks whether it may, then for a session.
ApiReply create_as_sdk(StreamWorld& world) {
    Headers headers;
    headers.set("Origin", "https://app.example");
    CHECK(world.caller().call(Method::options, "/1.0/sessions/", "", headers).status == 204);
    headers.set("Authorization", "Macaroon root=" + world.token);
    headers.set("Content-Type", "application/json");
    return world.caller().call(Method::post, "/1.0/sessions/",
                               R"({"app":"app","region":"","joinable":false,"screen":{"width":640,)"
                               R"("height":360,"fps":60,"density":240},"extra_data":null})",
                               headers);
}

void check_created(const ApiReply& created) {
    REQUIRE(created.status == 201);
    CHECK(created.json().at("type") == Json("sync"));
    CHECK(created.json().at("status") == Json("success"));
    CHECK(created.json().at("status_code") == Json(201));
    CHECK(created.metadata().at("region") == Json("home"));
    CHECK(created.metadata().at("status") == Json("created"));
    CHECK(created.metadata().at("joinable") == Json(false));
    CHECK(created.metadata().at("stun_servers") == Json::array());
}

// The client's id, once it has connected and said `discover`, which waited for the instance.
std::string discovered_client(ScriptedInstance& instance) {
    const Json joined = instance.receive();
    CHECK(joined.at("type") == Json("ctl:client-joined"));
    CHECK(joined.at("stun_servers") == Json::array());
    const std::string number = joined.at("client_id").as_string();
    const Json discover = instance.receive();
    CHECK(client_of(discover) == number);
    CHECK(discover.at("type") == Json("discover"));
    return number;
}

void agree_on_settings(WebSocketClient& client, ScriptedInstance& instance, const std::string& number) {
    reply(instance, number, R"({"type":"resp:discover","max_api_version":2,"fps":60,"capabilities":[]})");
    CHECK(receive(client) ==
          message(R"({"type":"resp:discover","max_api_version":2,"fps":60,"capabilities":[]})"));
    const std::string settings =
        R"({"type":"settings","api_version":2,"data_channels":[],"enable_speaker":true,)"
        R"("enable_microphone":false,"enable_video":true,"enable_camera":false})";
    client.send_text(settings);
    Json arrived = instance.receive();
    CHECK(client_of(arrived) == number);
    arrived.erase("client_id");
    CHECK(arrived == message(settings));
}

// Offer, candidates of both, answer.
void negotiate(WebSocketClient& client, ScriptedInstance& instance, const std::string& number) {
    const std::string offer = R"({"type":"offer","sdp":"dj0wCg=="})";
    const std::string candidate =
        R"({"type":"candidate","candidate":"Y2FuZGlkYXRlCg==","sdpMid":"0","sdpMLineIndex":0})";
    reply(instance, number, offer);
    reply(instance, number, candidate);
    CHECK(receive(client) == message(offer));
    CHECK(receive(client) == message(candidate));
    client.send_text(candidate);
    client.send_text(R"({"type":"answer","sdp":"dj0wCg=="})");
    CHECK(instance.receive().at("type") == Json("candidate"));
    CHECK(instance.receive().at("type") == Json("answer"));
}

}  // namespace

TEST_CASE_METHOD(StreamWorld,
                 "contract: a session goes from preflight to disconnect as a client SDK does it") {
    // 1 and 2.
    const ApiReply created = create_as_sdk(*this);
    check_created(created);
    const std::string id = created.metadata().at("id").as_string();
    // 3 and 4: the client connects, and speaks before there is an instance.
    WebSocketClient client = open(created.metadata().at("url").as_string());
    client.send_text(R"({"type":"discover"})");
    ScriptedInstance instance(*this, id);
    const std::string number = discovered_client(instance);
    // 5 to 9.
    agree_on_settings(client, instance, number);
    negotiate(client, instance, number);
    // 10: media flows, and the client has no more use for its socket.
    instance.send(message(R"({"type":"ctl:stream","active":true,"video_encoder":"x264enc"})"));
    client.close(1000);
    const Json left = instance.receive();
    CHECK(left.at("type") == Json("ctl:client-left"));
    CHECK(left.at("client_id") == Json(number));
    CHECK(left.at("reason") == Json("disconnected"));
    eventually("the client is known to watch",
               [&] { return await_status(token, id, "active").at("client_connected") == Json(true); });
    CHECK(await_status(token, id, "active").at("video_encoder") == Json("x264enc"));
    // 14: it leaves, and the session, which nobody can join, ends with it.
    instance.send(message(R"({"type":"ctl:stream","active":false})"));
    region().await_removals(1);
    eventually("the session is gone",
               [&] { return call(Method::get, "/1.0/sessions/" + id, token).status == 404; });
}

TEST_CASE_METHOD(StreamWorld, "contract: 201 on create, exactly 200 on join, status success") {
    const ApiReply created = call(Method::post, "/1.0/sessions/", token, joinable);
    CHECK(created.status == 201);
    CHECK(created.json().at("status") == Json("success"));
    const std::string id = created.metadata().at("id").as_string();
    const ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    const ApiReply joined = join(id);
    CHECK(joined.status == 200);
    CHECK(joined.json().at("status") == Json("success"));
    CHECK(joined.json().at("status_code") == Json(200));
}

TEST_CASE_METHOD(StreamWorld, "contract: stun_servers is an array, also without any") {
    const Json created = create(token, joinable);
    CHECK(created.at("stun_servers") == Json::array());
    const std::string id = created.at("id").as_string();
    const ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    CHECK(join(id).metadata().at("stun_servers") == Json::array());
}

TEST_CASE_METHOD(StreamWorld,
                 "contract: the route with a trailing slash and its preflight work without a token") {
    CHECK(caller().call(Method::options, "/1.0/sessions/").status == 204);
    CHECK(caller().call(Method::options, "/1.0/sessions/x/join").status == 204);
    CHECK(call(Method::post, "/1.0/sessions/", token, joinable).status == 201);
}

TEST_CASE_METHOD(StreamWorld, "contract: the address is that of a WebSocket and wants no sub-protocol") {
    const std::string url = create(token).at("url").as_string();
    CHECK(url.starts_with("wss://"));
    CHECK_NOTHROW(open(url));
}

TEST_CASE_METHOD(StreamWorld, "contract: the address is answered at once, however long the launch takes") {
    std::mutex launching;
    std::unique_lock hold(launching);
    region().on_launch([&](const StreamLaunch&) { const std::lock_guard wait(launching); });
    const Json created = create(token);
    CHECK(created.at("status") == Json("created"));
    CHECK(call(Method::get, "/1.0/sessions/" + created.at("id").as_string(), token)
              .metadata()
              .at("container_id") == Json(""));
    hold.unlock();
    region().await_launches(1);
}

TEST_CASE_METHOD(StreamWorld, "a second client takes over and the first is told") {
    const Json created = create(token, joinable);
    const std::string id = created.at("id").as_string();
    ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    WebSocketClient first = open(created.at("url").as_string());
    const std::string first_id = instance.receive().at("client_id").as_string();
    WebSocketClient second = open(join(id).metadata().at("url").as_string());
    const Json told = receive(first);
    CHECK(told.at("type") == Json("error"));
    CHECK(told.at("code") == Json("replaced"));
    const WebSocketMessage closed = receive_close(first);
    CHECK(closed.close_code == 1000);
    CHECK(closed.data == "replaced");
    const Json left = instance.receive();
    CHECK(left.at("type") == Json("ctl:client-left"));
    CHECK(left.at("client_id") == Json(first_id));
    CHECK(left.at("reason") == Json("replaced"));
    const Json joined = instance.receive();
    CHECK(joined.at("type") == Json("ctl:client-joined"));
    CHECK(joined.at("client_id") != Json(first_id));
    CHECK(joined.at("screen").at("width") == Json(640));
    // What the instance still says to the first one goes nowhere.
    reply(instance, first_id, R"({"type":"offer","sdp":"b2xk"})");
    reply(instance, joined.at("client_id").as_string(), R"({"type":"offer","sdp":"bmV3"})");
    CHECK(receive(second).at("sdp") == Json("bmV3"));
}

TEST_CASE_METHOD(StreamWorld, "a client watches beside the one that steers, where the instance allows it") {
    const Json created = create(token, joinable);
    const std::string id = created.at("id").as_string();
    const auto join_as = [&](const std::string& mode) {
        return call(Method::post, "/1.0/sessions/" + id + "/join", token, Json::object({{"mode", mode}}));
    };
    ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    WebSocketClient first = open(created.at("url").as_string());
    const std::string first_id = instance.receive().at("client_id").as_string();
    CHECK(join_as("look").status == 400);
    CHECK(join_as("look").error() == "argument mode is invalid: must be control or watch");
    CHECK(join_as("watch").status == 400);
    CHECK(join_as("watch").error() == "Session cannot be watched: its streamer is away or too old");
    instance.send(
        Json::object({{"type", "ctl:register"}, {"session_id", id}, {"features", Json::array({"watch"})}}));
    eventually("it can be watched", [&] { return join_as("watch").status == 200; });
    WebSocketClient second = open(join_as("watch").metadata().at("url").as_string());
    const Json joined = instance.receive();
    CHECK(joined.at("role") == Json("watch"));
    CHECK(joined.at("client_id") != Json(first_id));
    reply(instance, first_id, R"({"type":"offer","sdp":"Zmlyc3Q="})");
    reply(instance, joined.at("client_id").as_string(), R"({"type":"offer","sdp":"c2Vjb25k"})");
    CHECK(receive(first).at("sdp") == Json("Zmlyc3Q="));
    CHECK(receive(second).at("sdp") == Json("c2Vjb25k"));
    second.close(1000);
    const Json left = instance.receive();
    CHECK(left.at("type") == Json("ctl:client-left"));
    CHECK(left.at("role") == Json("watch"));
}

TEST_CASE_METHOD(StreamWorld, "a client whose instance fails is told why") {
    const Json created = create(token);
    const std::string id = created.at("id").as_string();
    WebSocketClient client = open(created.at("url").as_string());
    region().await_launches(1);
    eventually("the instance is there", [&] { return !region().instance_of(id).empty(); });
    region().move(region().instance_of(id), "error", "no such hook");
    const Json error = receive(client);
    CHECK(error.at("type") == Json("error"));
    CHECK(error.at("message").as_string().find("no such hook") != std::string::npos);
    receive_close(client);
}

TEST_CASE_METHOD(StreamWorld, "an instance that never registers ends in error") {
    const Json created = create(token, joinable);
    const std::string id = created.at("id").as_string();
    region().await_launches(1);
    clock().advance(std::chrono::minutes(5) + std::chrono::seconds(2));
    const Json session = await_status(token, id, "error");
    CHECK(session.at("status_message").as_string().starts_with("Container failed to start: "));
}

TEST_CASE_METHOD(StreamWorld, "an instance that reports an error puts its session in error") {
    const std::string id = create(token).at("id").as_string();
    ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    instance.send(message(R"({"type":"ctl:status","status":"error","message":"no display"})"));
    CHECK(await_status(token, id, "error").at("status_message").as_string().find("no display") !=
          std::string::npos);
}

TEST_CASE_METHOD(StreamWorld, "an idle session ends") {
    const std::string id =
        create(token, message(R"({"app":"app","joinable":true,"idle_time_min":1})")).at("id").as_string();
    ScriptedInstance instance(*this, id);
    await_status(token, id, "active");
    clock().advance(std::chrono::seconds(62));
    region().await_removals(1);
    CHECK(instance.receive().at("type") == Json("ctl:terminate"));
}

TEST_CASE_METHOD(StreamWorld, "an instance comes back on its own token and its client goes on") {
    const Json created = create(token, joinable);
    const std::string id = created.at("id").as_string();
    WebSocketClient client = open(created.at("url").as_string());
    std::string number;
    {
        ScriptedInstance instance(*this, id);
        number = instance.receive().at("client_id").as_string();
    }
    // It knows its client already: it is not told again.
    ScriptedInstance again(*this, id);
    client.send_text(R"({"type":"discover"})");
    CHECK(client_of(again.receive()) == number);
    reply(again, number, R"({"type":"offer","sdp":"dj0wCg=="})");
    CHECK(receive(client).at("type") == Json("offer"));
}

TEST_CASE_METHOD(StreamWorld, "a client that floods is ended and the session is not") {
    const Json created = create(token, joinable);
    const std::string id = created.at("id").as_string();
    WebSocketClient client = open(created.at("url").as_string());
    try {
        for (int i = 0; i < 100; ++i) client.send_text(R"({"type":"discover"})");
    } catch (const Error&) {
        // It may be ended before all is sent.
    }
    CHECK(receive_close(client).close_code == 1013);
    const ScriptedInstance instance(*this, id);
    CHECK(await_status(token, id, "active").at("id") == Json(id));
}

}  // namespace svc::test

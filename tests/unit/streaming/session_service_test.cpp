// Sessions as clients ask for them, and how they move.
#include "libsvc/streaming/sessions/session_service.h"

#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

Json joined(int width, int height) {
    return Json::object({{"screen", Json::object({{"width", width}, {"height", height}})}});
}

}  // namespace

TEST_CASE("a new session is answered at once, its instance launched after that") {
    SessionWorld world;
    Gateway gateway(world);
    LaunchGate gate(world.management);
    const SessionGrant grant = gateway.service.create("me", gateway.request());
    CHECK(grant.session.status == created);
    CHECK(grant.session.region == "north");
    CHECK(grant.session.container_id.empty());
    CHECK(grant.path.find("/1.0/sessions/" + grant.session.id + "/sockets/slave?token=") == 0);
    CHECK(grant.stun_servers == Json::array());
    CHECK(world.stored(grant.session.id)->status == created);
    gate.open();
    const std::string instance = gateway.instance(grant.session.id);
    CHECK(world.management.instance_of(grant.session.id) == instance);
}

TEST_CASE("an instance learns of its session from its user data") {
    SessionWorld world;
    world.config.server_name = "gateway.internal";
    world.config.server_fingerprint = std::string(64, 'e');
    Gateway gateway(world);
    const std::string id = gateway.create(
        R"(,"app_version":4,"extra_data":{"level":[1,2]},"screen":{"width":641,"height":360,"fps":30,"density":160})");
    world.management.await_launches(1);
    const StreamLaunch launch = world.management.launches().front();
    CHECK(launch.session == id);
    CHECK(launch.app == "app");
    CHECK(launch.app_version == 4);
    const Json data = launch.user_data;
    CHECK(data.at("display_width") == Json(642));
    CHECK(data.at("display_height") == Json(360));
    CHECK(data.at("display_density") == Json(160));
    CHECK(data.at("fps") == Json(30));
    CHECK(data.at("extra_data") == Json::parse(R"({"level":[1,2]})"));
    const Json& streaming = data.at("streaming");
    CHECK(streaming.at("session_id") == Json(id));
    CHECK(streaming.at("fingerprint") == Json(std::string(64, 'f')));
    CHECK(streaming.at("server_name") == Json("gateway.internal"));
    CHECK(streaming.at("server_fingerprint") == Json(std::string(64, 'e')));
    CHECK(streaming.at("metrics_labels") == Json::parse(R"({"region":"north","app":"app"})"));
    const std::string start = "wss://gateway:4000/1.0/sessions/" + id + "/sockets/master?token=";
    const std::string url = streaming.at("control_url").as_string();
    REQUIRE(url.find(start) == 0);
    CHECK(gateway.service.socket(id, SocketRole::master, url.substr(start.size())) != nullptr);
}

TEST_CASE("an instance without TLS is told no fingerprint") {
    SessionWorld world;
    world.config.fingerprint = "";
    world.config.instance_url = "ws://gateway:4000";
    Gateway gateway(world);
    gateway.create();
    world.management.await_launches(1);
    const Json data = world.management.launches().front().user_data;
    for (const char* member : {"fingerprint", "server_name", "server_fingerprint"})
        CHECK(data.at("streaming").find(member) == nullptr);
}

TEST_CASE("a session becomes active when its instance registers, and stays so while it is reconnected") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active();
    const std::string id = grant.session.id;
    instance->hang_up();
    StreamPeer again = gateway.connect_instance(id);
    again.stream(true);
    CHECK(gateway.await_watched(id, true));
    CHECK(gateway.status(id) == active);
}

TEST_CASE("a session that is not joinable ends when its client left") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active();
    const std::string id = grant.session.id;
    StreamPeer client = gateway.connect_client(grant);
    instance->stream(true);
    REQUIRE(gateway.await_watched(id, true));
    client.hang_up();  // signalling is over, media flows
    gateway.pass(6min);
    REQUIRE(gateway.status(id) == active);
    instance->stream(false);
    CHECK(gateway.await_gone(id));
    CHECK(world.eventually([&] { return world.management.instances() == 0; }));
    CHECK(world.eventually([&, &peer = *instance] {
        return peer.socket->was_sent(R"("ctl:terminate","reason":"Client left")");
    }));
}

TEST_CASE("a joinable session waits for the next client") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true)");
    const std::string id = grant.session.id;
    instance->stream(true);
    REQUIRE(gateway.await_watched(id, true));
    instance->stream(false);
    REQUIRE(gateway.await_watched(id, false));
    CHECK(gateway.status(id) == active);
    CHECK(world.stored(id)->had_client);
}

TEST_CASE("who joins gets a way in of his own, and changes the screen") {
    SessionWorld world;
    world.config.ice.stun_urls = {"stun:stun.example:3478"};
    Gateway gateway(world);
    auto [grant, instance] =
        gateway.active(R"(,"joinable":true,"screen":{"width":800,"height":600,"fps":30,"density":160})");
    StreamPeer first = gateway.connect_client(grant);
    const SessionGrant join =
        gateway.service.join("me", grant.session.id, SessionJoin::from_json(joined(639, 359)));
    CHECK(join.path != grant.path);
    CHECK(join.session.screen == Screen{640, 360, 160, 30});
    CHECK(join.stun_servers.as_array().front().at("urls") == Json::parse(R"(["stun:stun.example:3478"])"));
    CHECK(world.stored(grant.session.id)->screen == join.session.screen);
    CHECK_FALSE(first.socket->is_closed());
    StreamPeer second = gateway.connect_client(join);
    CHECK(first.socket->is_closed());
    CHECK(instance->socket->was_sent(R"("width":640,"height":360,"density":160)"));
    CHECK(code_of([&] { gateway.connect_client(join); }) == ErrorCode::forbidden);
}

TEST_CASE("only an active session that is joinable can be joined") {
    SessionWorld world;
    Gateway gateway(world);
    const auto refusal = [&](const std::string& id) {
        CHECK(code_of([&] { gateway.service.join("me", id, {}); }) == ErrorCode::invalid_argument);
        return message_of([&] { gateway.service.join("me", id, {}); });
    };
    CHECK(refusal(gateway.create(R"(,"joinable":true)")) == "Session is not active");
    CHECK(refusal(gateway.create()) == "Session is not active");
    auto [grant, instance] = gateway.active();
    CHECK(refusal(grant.session.id) == "Session is not joinable");
}

TEST_CASE("a session of another account is as good as none") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true)");
    const std::string id = grant.session.id;
    const auto not_found = [](auto&& call) {
        CHECK(code_of(call) == ErrorCode::not_found);
        CHECK(message_of(call) == "session not found");
    };
    not_found([&] { gateway.service.get("you", id); });
    not_found([&] { gateway.service.join("you", id, {}); });
    not_found([&] { gateway.service.remove("you", id, {}); });
    not_found([&] { gateway.service.get("me", "0000000000000000vvv0"); });
    CHECK(gateway.service.list("you", {}).total == 0);
    CHECK(gateway.service.list("me", {}).total == 1);
    CHECK(gateway.service.list("", {}).total == 1);
    CHECK(gateway.service.get("", id).account == "me");
    CHECK(code_of([&] { gateway.service.get("me", "../accounts"); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a token opens its own socket alone") {
    SessionWorld world;
    Gateway gateway(world);
    const SessionGrant grant = gateway.service.create("me", gateway.request());
    const std::string id = grant.session.id;
    const std::string token = grant.path.substr(grant.path.find("token=") + 6);
    const auto code = [&](const std::string& session, SocketRole role, const std::string& with) {
        return code_of([&] { gateway.service.socket(session, role, with); });
    };
    CHECK(code(id, SocketRole::master, token) == ErrorCode::forbidden);
    CHECK(code(gateway.create(), SocketRole::slave, token) == ErrorCode::forbidden);
    CHECK(code(id, SocketRole::slave, "nonsense") == ErrorCode::forbidden);
    world.clock.advance(5min + 1s);
    CHECK(code(id, SocketRole::slave, token) == ErrorCode::forbidden);
    const std::string lasting = world.mint.socket_token({id, SocketRole::master, ""}, std::nullopt);
    CHECK_FALSE(code(id, SocketRole::master, lasting));
    gateway.service.remove("me", id, {.force = true, .sync = false});
    CHECK(code(id, SocketRole::master, lasting) == ErrorCode::not_found);
}

TEST_CASE("a list can be filtered, ordered and cut") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string one = gateway.create();
    world.clock.advance(1s);
    const std::string two = gateway.create(R"(,"joinable":true)");
    world.clock.advance(1s);
    const std::string three = gateway.create();
    const auto ids = [&](const std::map<std::string, std::string>& query) {
        std::vector<std::string> result;
        for (const auto& session : gateway.service.list("me", SessionQuery::from_query(query)).sessions)
            result.push_back(session.id);
        return result;
    };
    using Ids = std::vector<std::string>;
    CHECK(ids({}) == Ids{one, two, three});
    CHECK(ids({{"sort_order", "desc"}}) == Ids{three, two, one});
    CHECK(ids({{"sort_by", "joinable"}, {"sort_order", "desc"}}) == Ids{two, three, one});
    CHECK(ids({{"limit", "1"}, {"offset", "1"}}) == Ids{two});
    CHECK(ids({{"offset", "9"}}).empty());
    CHECK(ids({{"status", "created"}}).size() == 3);
    CHECK(ids({{"status", "error"}}).empty());
    CHECK(gateway.service.list("me", SessionQuery::from_query({{"limit", "1"}})).total == 3);
    CHECK(gateway.service.counts().at(created) == 3);
    CHECK(gateway.service.counts().at(terminated) == 0);
}

TEST_CASE("extra data that does not fit into the user data is refused") {
    SessionWorld world;
    Gateway gateway(world);
    const auto with = [&](std::size_t size) {
        return [&gateway, size] { gateway.create(R"(,"extra_data":")" + std::string(size, 'x') + '"'); };
    };
    CHECK_FALSE(code_of(with(9000)));
    CHECK(code_of(with(10'240)) == ErrorCode::invalid_argument);
    CHECK(message_of(with(10'240)).find("argument extra_data is invalid") == 0);
    CHECK(gateway.service.list("", {}).total == 1);
}

TEST_CASE("an application that nobody knows, and a region that cannot take it, are refused") {
    SessionWorld world;
    Gateway gateway(world);
    SessionCreate request = gateway.request();
    request.app = "other";
    CHECK(code_of([&] { gateway.service.create("me", request); }) == ErrorCode::invalid_argument);
    CHECK(message_of([&] { gateway.create(R"(,"region":"west")"); }) ==
          "No agent available to host the session");
    CHECK(gateway.service.list("", {}).total == 0);
}

TEST_CASE("sessions go where fewest are for the processors there") {
    SessionWorld world;
    world.other.set_cpus(8);  // north has 4
    Gateway gateway(world, true);
    for (int i = 0; i < 6; ++i) gateway.create();
    std::map<std::string, int> sessions;
    for (const auto& session : gateway.service.list("", {}).sessions) ++sessions[session.region];
    CHECK(sessions == std::map<std::string, int>{{"north", 2}, {"south", 4}});
    CHECK(gateway.service.create("me", gateway.request(R"(,"region":"north")")).session.region == "north");
}

TEST_CASE("an account can create so many sessions in a minute") {
    SessionWorld world;
    world.config.limits.creations_per_minute = 2;
    Gateway gateway(world);
    gateway.create();
    gateway.create();
    CHECK(message_of([&] { gateway.create(); }) == "Too many requests");
    CHECK(code_of([&] { gateway.create(); }) == ErrorCode::invalid_argument);
    CHECK_FALSE(code_of([&] { gateway.service.create("you", gateway.request()); }));
    CHECK_FALSE(code_of([&] { gateway.service.create("", gateway.request()); }));
    gateway.advance(1min);
    CHECK_FALSE(code_of([&] { gateway.create(); }));
}

TEST_CASE("there are only so many sessions") {
    SessionWorld world;
    world.config.limits.sessions = 1;
    Gateway gateway(world);
    gateway.create();
    CHECK(message_of([&] { gateway.create(); }) == "Too many sessions");
    CHECK(code_of([&] { gateway.create(); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a session that cannot be stored is not launched") {
    SessionWorld world;
    Gateway gateway(world);
    world.store.fail_next();
    CHECK(code_of([&] { gateway.create(); }) == ErrorCode::unavailable);
    gateway.service.tick();
    CHECK(gateway.service.list("", {}).total == 0);
    gateway.instance(gateway.create());
    CHECK(world.management.launches().size() == 1);
}

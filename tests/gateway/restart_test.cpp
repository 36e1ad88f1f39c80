#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

const Json joinable = Json::parse(R"({"app":"app","joinable":true,"idle_time_min":0})");

}  // namespace

TEST_CASE("accounts and sessions stay when the gateway begins anew") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    const std::string id = gateway.create(token, joinable).at("id").as_string();
    const std::string fingerprint = gateway.gateway().fingerprint();
    {
        const ScriptedInstance instance(gateway, id);
        gateway.await_status(token, id, "active");
        gateway.restart();
    }
    CHECK(gateway.gateway().fingerprint() == fingerprint);
    const ApiReply reply = gateway.call(Method::get, "/1.0/sessions/" + id, token);
    REQUIRE(reply.status == 200);
    CHECK(reply.metadata().at("status") == Json("active"));
    CHECK(reply.metadata().at("container_id") == Json(gateway.region().instance_of(id)));
    CHECK(gateway.local().get("/1.0/accounts").json().at("total_size") == Json(1));
    CHECK(gateway.region().launches().size() == 1);
}

TEST_CASE("an instance that comes back after a restart is joined") {
    TestGateway gateway([](auto& options) { options.instance_url = "https://127.0.0.1:1"; });
    const std::string token = gateway.token("alice");
    const std::string id = gateway.create(token, joinable).at("id").as_string();
    gateway.region().await_launches(1);
    const std::string control =
        gateway.region().launches().at(0).user_data.at("streaming").at("control_url").as_string();
    const std::string path = control.substr(control.find("/1.0/"));
    const auto open = [&] {
        WebSocketClient socket = gateway.open("wss" + gateway.target().describe().substr(5) + path);
        socket.send_text(R"({"type":"ctl:register","session_id":")" + id + R"(","version":"1","codecs":[]})");
        return socket;
    };
    {
        const WebSocketClient before = open();
        gateway.await_status(token, id, "active");
    }
    gateway.restart();
    WebSocketClient after = open();
    eventually("the session is joined", [&] {
        return gateway.call(Method::post, "/1.0/sessions/" + id + "/join", token).status == 200;
    });
    const Json url = gateway.call(Method::post, "/1.0/sessions/" + id + "/join", token).metadata().at("url");
    const WebSocketClient client = gateway.open(url.as_string());
    Json joined;
    do {
        joined = receive(after);
    } while (joined.at("type") == Json("ctl:ping"));
    CHECK(joined.at("type") == Json("ctl:client-joined"));
}

TEST_CASE("a deletion that a restart cut short is finished") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    const std::string id = gateway.create(token).at("id").as_string();
    gateway.region().await_launches(1);
    gateway.region().set_answers(false);
    CHECK(gateway.call(Method::delete_, "/1.0/sessions/" + id, token).status == 200);
    gateway.stop();
    gateway.region().set_answers(true);
    gateway.restart();
    gateway.advance(std::chrono::seconds(16));  // what the one before had begun is free for others then
    gateway.region().await_removals(1);
    eventually("the record is gone",
               [&] { return gateway.call(Method::get, "/1.0/sessions/" + id, token).status == 404; });
}

TEST_CASE("clients are told and sockets closed with going away when the gateway stops") {
    TestGateway gateway;
    WebSocketClient client = gateway.open(gateway.create(gateway.token("alice")).at("url").as_string());
    gateway.stop();
    CHECK(receive(client).at("code") == Json("gateway_stopping"));
    CHECK(receive_close(client).close_code == 1001);
    CHECK_FALSE(std::filesystem::exists(gateway.options().socket));
}

TEST_CASE("instances are told the certificate that is served at their launch") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    const auto told = [&](std::size_t launch) {
        gateway.create(token);
        gateway.region().await_launches(launch + 1);
        return gateway.region().launches().at(launch).user_data.at("streaming").at("fingerprint");
    };
    const std::string first = gateway.gateway().fingerprint();
    CHECK(told(0) == Json(first));
    const KeyPair files{gateway.options().state_dir / "tls/server.crt",
                        gateway.options().state_dir / "tls/server.key"};
    std::filesystem::remove(files.certificate);
    ensure_key_pair(files, "second", {}, {}, gateway.clock());
    gateway.gateway().reload(log::Level::error);
    CHECK(gateway.gateway().fingerprint() != first);
    CHECK(told(1) == Json(gateway.gateway().fingerprint()));
}

namespace {

// A gateway with a session that was launched, and ways to replace the certificate that everybody sees.
struct Rotation {
    TestGateway gateway;
    Json streaming;  // of its user data

    Rotation() {
        gateway.create(gateway.token("alice"), joinable);
        gateway.region().await_launches(1);
        streaming = gateway.region().launches().at(0).user_data.at("streaming");
    }
    void replace_files() const {
        const auto folder = gateway.options().state_dir / "tls";
        for (const char* name : {"server.crt", "server.key"}) std::filesystem::remove(folder / name);
        ensure_key_pair({folder / "server.crt", folder / "server.key"}, "other", {}, {}, SystemClock());
    }
    // Whether the instance's side comes about, where the gateway now is.
    bool connects() {
        try {
            gateway.open_control(Json::object({{"streaming", streaming}}), gateway.target());
            return true;
        } catch (const Error&) {
            return false;
        }
    }
};

}  // namespace

TEST_CASE("an instance comes back after the certificate was replaced") {
    Rotation world;
    const std::string first = world.gateway.gateway().fingerprint();
    CHECK(world.connects());
    world.replace_files();
    SECTION("by a hangup") {
        world.gateway.gateway().reload(log::Level::error);
    }
    SECTION("by a restart") {
        world.gateway.restart();
    }
    CHECK(world.gateway.gateway().fingerprint() != first);
    CHECK(world.connects());
}

TEST_CASE("an instance accepts no other certificate than its own") {
    Rotation world;
    SECTION("with another pin") {
        world.streaming.set("server_fingerprint", std::string(64, 'a'));
    }
    SECTION("with the pin of the one for everybody") {
        world.streaming.set("server_fingerprint", world.gateway.gateway().fingerprint());
    }
    SECTION("under another name") {
        world.streaming.set("server_name", "elsewhere.internal");
    }
    CHECK_FALSE(world.connects());
}

TEST_CASE("an instance that knows no name pins the certificate of everybody") {
    Rotation world;
    world.streaming = Json::object({{"control_url", world.streaming.at("control_url")},
                                    {"fingerprint", world.streaming.at("fingerprint")}});
    CHECK(world.connects());
    world.gateway.restart();
    CHECK(world.connects());
    world.replace_files();
    world.gateway.restart();
    CHECK_FALSE(world.connects());
}

TEST_CASE("a gateway whose certificate for instances is broken says so") {
    TestGateway gateway;
    gateway.stop();
    const auto file = gateway.options().state_dir / "tls/instances.crt";
    write_file_atomically(file, "nonsense");
    CHECK(message_of([&] {
              gateway.restart();
          }).starts_with(file.string() + " with instances.key: cannot load certificate"));
}

TEST_CASE("a state directory has one gateway") {
    const TestGateway gateway;
    gateway::Options second = gateway.options();
    second.socket = gateway.path() / "second.socket";
    CHECK(code_of([&] { gateway::Gateway other(second); }) == ErrorCode::busy);
}

TEST_CASE("the state is private") {
    using std::filesystem::perms;
    const TestGateway gateway;
    const auto mode = [&](const char* name) {
        return std::filesystem::status(gateway.options().state_dir / name).permissions();
    };
    for (const char* name : {"", "tls"}) CHECK(mode(name) == perms::owner_all);
    for (const char* name : {"tokens.key", "tls/server.key", "tls/instances.key", "lock"})
        CHECK(mode(name) == (perms::owner_read | perms::owner_write));
    CHECK((mode("gateway.db") & (perms::group_all | perms::others_all)) == perms::none);
}

}  // namespace svc::test

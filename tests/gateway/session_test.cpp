#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/error.h"
#include "tests/support/golden.h"
#include "tests/support/normalise.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

const std::string unknown_id = "00000000000000000000";

Json body(const std::string& text) {
    return Json::parse(text);
}

// The address and the token differ from run to run.
Json comparable(const ApiReply& reply) {
    Json all = reply.json();
    const Json* metadata = all.find("metadata");
    if (metadata && metadata->find("url")) {
        Json known = *metadata;
        std::string url = known.at("url").as_string();
        const std::size_t path = url.find('/', 6);
        const std::size_t token = url.find("token=");
        url = url.substr(0, 6) + "<host>" + url.substr(path, token + 6 - path) + "<token>";
        known.set("url", url);
        all.set("metadata", known);
    }
    return normalise(all);
}

std::vector<std::string> ids(const ApiReply& reply) {
    std::vector<std::string> found;
    const Json metadata = reply.metadata();
    for (const Json& id : metadata.as_array()) found.push_back(id.as_string());
    return found;
}

struct World : TestGateway {
    using TestGateway::TestGateway;
    std::string alice = token("alice");
    std::string bob = token("bob");
    std::string new_session() { return create(alice).at("id").as_string(); }
    ApiReply get(const std::string& path) { return call(Method::get, path, alice); }
    ApiReply post(const std::string& path, const Json& with) { return call(Method::post, path, alice, with); }
    ApiReply remove(const std::string& path, const Json& with = {}) {
        return call(Method::delete_, path, alice, with);
    }
};

}  // namespace

TEST_CASE_METHOD(World, "a_session_is_created_with_what_its_client_needs") {
    const ApiReply reply = post("/1.0/sessions", body(R"({"app":"app"})"));
    CHECK(reply.status == 201);
    CHECK(reply.headers.get("Content-Type") == "application/json");
    check_golden("gateway/golden/session_created.json", comparable(reply));
    const std::string url = reply.metadata().at("url").as_string();
    CHECK(url.starts_with("wss://127.0.0.1:"));
    CHECK(url.find("/1.0/sessions/" + reply.metadata().at("id").as_string() + "/sockets/slave?token=") !=
          std::string::npos);
}

TEST_CASE_METHOD(World, "the_body_a_client_sdk_sends_is_taken_as_it_is") {
    const ApiReply reply = post("/1.0/sessions/", body(R"({"app":"app","region":"","joinable":false,
        "screen":{"width":640,"height":360,"fps":60,"density":240},"extra_data":null})"));
    REQUIRE(reply.status == 201);
    region().await_launches(1);
    const Json user_data = region().launches().at(0).user_data;
    CHECK(user_data.at("display_width") == Json(640));
    CHECK(user_data.at("display_height") == Json(360));
    CHECK(user_data.at("fps") == Json(60));
    CHECK(user_data.at("display_density") == Json(240));
}

TEST_CASE_METHOD(World, "the_instance_learns_of_its_session_in_its_user_data") {
    const ApiReply reply = post("/1.0/sessions", body(R"({"app":"app","extra_data":{"level":[1,"two"]}})"));
    REQUIRE(reply.status == 201);
    const std::string id = reply.metadata().at("id").as_string();
    region().await_launches(1);
    const StreamLaunch launch = region().launches().at(0);
    CHECK(launch.session == id);
    CHECK(launch.app == "app");
    CHECK(launch.user_data.at("extra_data") == body(R"({"level":[1,"two"]})"));
    const Json& streaming = launch.user_data.at("streaming");
    CHECK(streaming.at("session_id") == Json(id));
    CHECK(streaming.at("fingerprint") == Json(gateway().fingerprint()));
    CHECK(streaming.at("control_url")
              .as_string()
              .starts_with("wss://" + target().describe().substr(8) + "/1.0/sessions/" + id +
                           "/sockets/master?token="));
    CHECK(streaming.at("metrics_labels") == body(R"({"region":"home","app":"app"})"));
}

TEST_CASE_METHOD(World, "faulty_creations_are_refused_and_launch_nothing") {
    const std::vector<std::string> bodies{R"([])",
                                          R"({})",
                                          R"({"app":""})",
                                          R"({"app":7})",
                                          R"({"app":"none"})",
                                          R"({"app":"app","joinable":"yes"})",
                                          R"({"app":"app","idle_time_min":-1})",
                                          R"({"app":"app","screen":{"width":0}})",
                                          R"({"app":"app","screen":{"width":5000,"height":2000}})",
                                          R"({"app":"app","screen":{"fps":0}})",
                                          R"({"app":"app","screen":{"density":71}})",
                                          R"({"app":"app","screen":[]})",
                                          R"({"app":"app","app_version":"latest"})"};
    for (const std::string& text : bodies) {
        INFO(text);
        const ApiReply reply = post("/1.0/sessions", body(text));
        CHECK(reply.status == 400);
        CHECK(reply.json().at("type") == Json("error"));
        CHECK(reply.json().at("status") == Json("failed"));
        CHECK(reply.json().at("status_code") == Json(400));
        CHECK_FALSE(reply.error().empty());
    }
    Headers headers;
    headers.set("Authorization", "Macaroon root=" + alice);
    for (const char* text : {"", "{", "\xff", "{\"app\":\"app\",\"app\":\"b\"}"})
        CHECK(caller().call(Method::post, "/1.0/sessions", text, headers).status == 400);
    CHECK(region().launches().empty());
    CHECK(get("/1.0/sessions").json().at("total_size") == Json(0));
}

TEST_CASE_METHOD(World, "a_body_that_is_too_long_is_refused") {
    const std::string long_text(70'000, 'x');
    const ApiReply reply = post("/1.0/sessions", Json::object({{"app", "app"}, {"extra_data", long_text}}));
    CHECK(reply.status == 400);
    CHECK(region().launches().empty());
}

TEST_CASE_METHOD(World, "names_with_odd_characters_are_no_applications") {
    for (const char* name : {"../etc", "a b", "a\"b", "\xc3\xa9", "a/b", "%00"}) {
        const ApiReply reply = post("/1.0/sessions", Json::object({{"app", name}}));
        INFO(name);
        CHECK(reply.status == 400);
    }
}

TEST_CASE_METHOD(World, "a_region_that_does_not_exist_cannot_host") {
    const ApiReply reply = post("/1.0/sessions", body(R"({"app":"app","region":"mars"})"));
    CHECK(reply.status == 404);
    CHECK(reply.error() == "No agent available to host the session");
}

TEST_CASE_METHOD(World, "a_session_is_shown_as_the_table_of_fields_says") {
    const std::string id = new_session();
    region().await_launches(1);
    eventually("the instance is known",
               [&] { return get("/1.0/sessions/" + id).metadata().at("container_id") != Json(""); });
    const ApiReply reply = get("/1.0/sessions/" + id);
    CHECK(reply.status == 200);
    CHECK(reply.metadata().at("container_id") == Json(region().instance_of(id)));
    Json shown = comparable(reply);
    Json metadata = shown.at("metadata");
    metadata.set("container_id", "<id>");
    shown.set("metadata", metadata);
    check_golden("gateway/golden/session.json", shown);
    CHECK(get("/1.0/sessions/" + id + "/").metadata().at("id") == Json(id));
}

TEST_CASE_METHOD(World, "sessions_that_are_not_there_are_not_found") {
    const std::string foreign = create(bob).at("id").as_string();
    for (const std::string& id : {unknown_id, foreign}) {
        CHECK(get("/1.0/sessions/" + id).status == 404);
        CHECK(remove("/1.0/sessions/" + id).status == 404);
        CHECK(post("/1.0/sessions/" + id + "/join", Json::object()).status == 404);
    }
    for (const char* id : {"x", "0000", "00000000000000000000x", "ZZZZZZZZZZZZZZZZZZZZ"}) {
        CHECK(get("/1.0/sessions/" + std::string(id)).status == 400);
        CHECK(remove("/1.0/sessions/" + std::string(id)).status == 400);
        CHECK(post("/1.0/sessions/" + std::string(id) + "/join", Json::object()).status == 400);
    }
    CHECK(call(Method::get, "/1.0/sessions/" + foreign, bob).status == 200);
}

TEST_CASE_METHOD(World, "sessions_are_listed_as_ids_or_records_and_each_account_sees_its_own") {
    const std::string first = new_session();
    advance(std::chrono::seconds(1));
    const std::string second = new_session();
    create(bob);
    const ApiReply reply = get("/1.0/sessions");
    CHECK(reply.status == 200);
    CHECK(ids(reply) == std::vector<std::string>{first, second});
    CHECK(reply.json().at("total_size") == Json(2));
    for (const char* flag : {"recursion=true", "recursive=true", "recursion=1"}) {
        INFO(flag);
        const ApiReply records = get("/1.0/sessions/?" + std::string(flag));
        REQUIRE(records.status == 200);
        CHECK(records.metadata().as_array().at(1).at("id") == Json(second));
        CHECK(records.metadata().as_array().at(1).at("region") == Json("home"));
    }
    CHECK(local().get("/1.0/sessions").json().at("total_size") == Json(3));
}

TEST_CASE_METHOD(World, "lists_are_filtered_sorted_and_paged") {
    std::vector<std::string> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(new_session());
        advance(std::chrono::seconds(1));
    }
    const ScriptedInstance instance(*this, all[1]);
    await_status(alice, all[1], "active");
    CHECK(ids(get("/1.0/sessions?status=active")) == std::vector<std::string>{all[1]});
    CHECK(get("/1.0/sessions?status=created").json().at("total_size") == Json(2));
    const ApiReply page = get("/1.0/sessions?limit=1&offset=1&sort_by=created_at&sort_order=desc");
    CHECK(ids(page) == std::vector<std::string>{all[1]});
    CHECK(page.json().at("total_size") == Json(3));
    CHECK(ids(get("/1.0/sessions?offset=9")).empty());
    for (const char* query : {"status=gone", "limit=-1", "limit=x", "offset=-1", "sort_by=color",
                              "sort_order=up", "recursion=maybe"}) {
        INFO(query);
        CHECK(get("/1.0/sessions?" + std::string(query)).status == 400);
    }
}

TEST_CASE_METHOD(World, "a_deleted_session_takes_its_instance_with_it") {
    const std::string id = new_session();
    region().await_launches(1);
    const ApiReply reply = remove("/1.0/sessions/" + id + "?sync=true");
    CHECK(reply.status == 200);
    check_golden("gateway/golden/session_deleted.json", reply.json());
    CHECK(region().instances() == 0);
    CHECK(get("/1.0/sessions/" + id).status == 404);
    CHECK(remove("/1.0/sessions/" + id).status == 404);
}

TEST_CASE_METHOD(World, "a_deletion_that_does_not_wait_goes_on_by_itself") {
    const std::string id = new_session();
    region().await_launches(1);
    CHECK(remove("/1.0/sessions/" + id + "/").status == 200);
    region().await_removals(1);
    eventually("the record is gone", [&] { return get("/1.0/sessions/" + id).status == 404; });
}

TEST_CASE_METHOD(World, "force_forgets_a_session_whose_region_does_not_answer") {
    const std::string id = new_session();
    region().await_launches(1);
    region().set_answers(false);
    CHECK(remove("/1.0/sessions/" + id + "?force=true&sync=true").status == 200);
    CHECK(get("/1.0/sessions/" + id).status == 404);
}

TEST_CASE_METHOD(World, "deletions_that_wait_keep_no_other_from_beginning") {
    constexpr std::size_t many = 24;
    region().set_removes(false);
    std::vector<std::string> sessions;
    while (sessions.size() < many) sessions.push_back(new_session());
    region().await_launches(many);
    std::vector<std::future<ApiReply>> replies;
    for (const std::string& id : sessions) {
        const std::string path = "/1.0/sessions/" + id + "?sync=1";
        replies.push_back(std::async(std::launch::async, [this, path] { return local().remove(path); }));
    }
    const auto ending = [&] {
        return get("/1.0/sessions?status=terminating").json().at("total_size") == Json(many);
    };
    eventually("all are begun", ending);
    region().set_removes(true);
    for (auto& reply : replies) CHECK(reply.get().status == 200);
    CHECK(get("/1.0/sessions").json().at("total_size") == Json(0));
}

TEST_CASE_METHOD(World, "faulty_deletions_are_refused") {
    const std::string id = new_session();
    CHECK(remove("/1.0/sessions/" + id + "?sync=perhaps").status == 400);
    CHECK(remove("/1.0/sessions/" + id + "?force=2").status == 400);
    CHECK(remove("/1.0/sessions/" + unknown_id + "?force=0&sync=1").status == 404);
    for (const char* text :
         {R"({})", R"({"ids":[]})", R"({"ids":"x"})", R"({"ids":[1]})", R"({"ids":["x"]})", R"([])"}) {
        INFO(text);
        CHECK(remove("/1.0/sessions", body(text)).status == 400);
    }
    CHECK(remove("/1.0/sessions").status == 400);
    CHECK(get("/1.0/sessions/" + id).metadata().at("status") == Json("created"));
}

TEST_CASE_METHOD(World, "several_sessions_are_deleted_at_once") {
    const Json pair = Json::array({new_session(), new_session()});
    region().await_launches(2);
    const ApiReply reply = remove("/1.0/sessions?sync=true", Json::object({{"ids", pair}}));
    CHECK(reply.status == 200);
    CHECK(reply.metadata() == Json::object({{"deleted_sessions", pair}, {"errors", Json::array()}}));
    CHECK(region().instances() == 0);
}

TEST_CASE_METHOD(World, "a_batch_that_does_not_wait_answers_202") {
    const std::string id = new_session();
    region().await_launches(1);
    const ApiReply reply = remove("/1.0/sessions", Json::object({{"ids", Json::array({id})}}));
    CHECK(reply.status == 202);
    CHECK(reply.json().at("status") == Json("success"));
    eventually("the record is gone", [&] { return get("/1.0/sessions/" + id).status == 404; });
}

TEST_CASE_METHOD(World, "a_batch_of_which_some_fail_answers_207_and_says_which") {
    const std::string id = new_session();
    region().await_launches(1);
    const ApiReply reply =
        remove("/1.0/sessions?sync=true", Json::object({{"ids", Json::array({id, unknown_id})}}));
    CHECK(reply.status == 207);
    CHECK(reply.metadata().at("deleted_sessions") == Json::array({id}));
    const Json error = reply.metadata().at("errors").as_array().at(0);
    CHECK(error.at("session_id") == Json(unknown_id));
    CHECK(error.at("status_code") == Json(404));
    CHECK(error.at("error_message") == Json("session not found"));
}

TEST_CASE_METHOD(World, "a_batch_of_which_all_fail_alike_fails_with_their_status") {
    const ApiReply reply = remove("/1.0/sessions", Json::object({{"ids", Json::array({unknown_id})}}));
    CHECK(reply.status == 404);
    CHECK(reply.error() == "session not found");
    CHECK(reply.metadata().at("errors").as_array().size() == 1);
}

TEST_CASE_METHOD(World, "a_joinable_session_that_is_active_is_joined") {
    const std::string id =
        create(alice, body(R"({"app":"app","joinable":true,"idle_time_min":5})")).at("id").as_string();
    CHECK(post("/1.0/sessions/" + id + "/join", Json::object()).error() == "Session is not active");
    const ScriptedInstance instance(*this, id);
    await_status(alice, id, "active");
    const ApiReply reply = post("/1.0/sessions/" + id + "/join",
                                body(R"({"screen":{"width":640,"height":360},"disconnect_clients":true})"));
    CHECK(reply.status == 200);
    check_golden("gateway/golden/session_joined.json", comparable(reply));
    CHECK(call(Method::post, "/1.0/sessions/" + id + "/join", alice).status == 200);
    CHECK(post("/1.0/sessions/" + id + "/join/", body(R"({"screen":{"width":-1}})")).status == 400);
    CHECK(post("/1.0/sessions/" + id + "/join", body(R"("x")")).status == 400);
}

TEST_CASE_METHOD(World, "a_session_that_is_not_joinable_is_not_joined") {
    const std::string id = new_session();
    const ScriptedInstance instance(*this, id);
    await_status(alice, id, "active");
    const ApiReply reply = post("/1.0/sessions/" + id + "/join", Json::object());
    CHECK(reply.status == 400);
    CHECK(reply.error() == "Session is not joinable");
}

TEST_CASE_METHOD(World, "a_failed_instance_is_told_with_its_reason") {
    const std::string id = new_session();
    region().await_launches(1);
    eventually("the instance is there", [&] { return !region().instance_of(id).empty(); });
    region().move(region().instance_of(id), "error", "hook failed: post-start");
    const Json session = await_status(alice, id, "error");
    CHECK(session.at("status_message").as_string().find("hook failed: post-start") != std::string::npos);
}

TEST_CASE_METHOD(World, "the_address_for_the_client_follows_the_host_it_asked") {
    Headers headers;
    headers.set("Authorization", "Macaroon root=" + alice);
    headers.set("Host", "gw.example:4000");
    const std::string create_body = R"({"app":"app"})";
    CHECK(caller()
              .call(Method::post, "/1.0/sessions", create_body, headers)
              .metadata()
              .at("url")
              .as_string()
              .starts_with("wss://gw.example:4000/1.0/sessions/"));
    headers.set("Host", "[2001:db8::1]:4000");
    CHECK(caller()
              .call(Method::post, "/1.0/sessions", create_body, headers)
              .metadata()
              .at("url")
              .as_string()
              .starts_with("wss://[2001:db8::1]:4000/1.0/"));
    const std::size_t before = region().launches().size();
    for (const char* host :
         {"evil.example/x?", "a@b", "a b", "x:99999", "x:", ":1", "a%2fb", "2001:db8::1", "\"><script>"}) {
        INFO(host);
        headers.set("Host", host);
        const ApiReply reply = caller().call(Method::post, "/1.0/sessions", create_body, headers);
        CHECK(reply.status == 400);
    }
    CHECK(region().launches().size() <= before + 2);
    CHECK(local().get("/1.0/sessions").json().at("total_size") == Json(2));
}

TEST_CASE("the_public_address_wins_over_the_host_header") {
    TestGateway gateway([](auto& options) { options.public_url = "https://gw.example"; });
    const std::string token = gateway.token("alice");
    CHECK(gateway.create(token).at("url").as_string().starts_with("wss://gw.example/1.0/sessions/"));
    const ApiReply reply = gateway.local().post("/1.0/sessions", body(R"({"app":"app"})"));
    CHECK(reply.metadata().at("url").as_string().starts_with("wss://gw.example/1.0/"));
}

TEST_CASE("the_configured_servers_are_told_with_credentials_of_their_own") {
    TestGateway gateway([](auto& options) {
        options.ice.stun_urls = {"stun:stun.example:3478"};
        options.ice.turn_urls = {"turn:turn.example:3478?transport=udp"};
        options.ice.turn_secret = "shared";
    });
    const Json servers = gateway.create(gateway.token("alice")).at("stun_servers");
    REQUIRE(servers.as_array().size() == 2);
    CHECK(servers.as_array().at(0).at("urls") == Json::array({"stun:stun.example:3478"}));
    CHECK(servers.as_array().at(1).at("urls") == Json::array({"turn:turn.example:3478?transport=udp"}));
    CHECK_FALSE(servers.as_array().at(1).at("username").as_string().empty());
    CHECK_FALSE(servers.as_array().at(1).at("password").as_string().empty());
}

TEST_CASE("creations_beyond_the_limit_are_refused") {
    TestGateway gateway([](auto& options) { options.limits.creations_per_minute = 2; });
    const std::string token = gateway.token("alice");
    gateway.create(token);
    gateway.create(token);
    const ApiReply reply = gateway.call(Method::post, "/1.0/sessions", token, Json::object({{"app", "app"}}));
    CHECK(reply.status == 400);
    CHECK(reply.error() == "Too many requests");
    CHECK(gateway.create(gateway.token("bob")).at("status") == Json("created"));
    gateway.advance(std::chrono::minutes(1));
    CHECK(gateway.create(token).at("status") == Json("created"));
}

}  // namespace svc::test

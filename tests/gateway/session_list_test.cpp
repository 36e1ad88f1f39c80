// Sessions are shown, listed and joined.
#include "tests/gateway/session_world.h"
#include "tests/support/golden.h"

namespace svc::test {

TEST_CASE_METHOD(SessionCaller, "a session is shown as the table of fields says") {
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

TEST_CASE_METHOD(SessionCaller, "sessions that are not there are not found") {
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

TEST_CASE_METHOD(SessionCaller, "sessions are listed as ids or records and each account sees its own") {
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

TEST_CASE_METHOD(SessionCaller, "the local socket alone tells whose a session is") {
    const std::string id = new_session();
    const std::string own =
        local().post("/1.0/sessions", body(R"({"app":"app"})")).metadata().at("id").as_string();
    CHECK(local().get("/1.0/sessions/" + id).metadata().at("account") == Json("alice"));
    CHECK(local().get("/1.0/sessions/" + own).metadata().at("account") == Json(""));
    const Json all = local().get("/1.0/sessions?recursion=true").metadata();
    CHECK(all.as_array().size() == 2);
    for (const Json& session : all.as_array())
        CHECK(session.at("account") == Json(session.at("id") == Json(id) ? "alice" : ""));
    const Json record = get("/1.0/sessions/" + id).metadata();
    CHECK(record.find("account") == nullptr);
    const Json shown = get("/1.0/sessions?recursion=true").metadata();
    CHECK(shown.as_array().at(0).find("account") == nullptr);
}

TEST_CASE_METHOD(SessionCaller, "an administrator sees joins and ends everybodys sessions") {
    const std::string admin = token("root", true);
    const std::string id = new_session();
    const std::string nobodys =
        local().post("/1.0/sessions", body(R"({"app":"app"})")).metadata().at("id").as_string();
    const Json all = call(Method::get, "/1.0/sessions?recursion=true", admin).metadata();
    REQUIRE(all.as_array().size() == 2);
    for (const Json& session : all.as_array())
        CHECK(session.at("account") == Json(session.at("id") == Json(id) ? "alice" : ""));
    CHECK(call(Method::get, "/1.0/sessions/" + id, admin).metadata().at("account") == Json("alice"));
    CHECK(call(Method::post, "/1.0/sessions/" + id + "/join", admin).error() == "Session is not active");
    CHECK(get("/1.0/sessions").json().at("total_size") == Json(1));
    const std::string own = create(admin).at("id").as_string();
    CHECK(local().get("/1.0/sessions/" + own).metadata().at("account") == Json("root"));
    CHECK(call(Method::delete_, "/1.0/sessions/" + nobodys + "?sync=true", admin).status == 200);
    CHECK(call(Method::get, "/1.0/sessions/" + nobodys, admin).status == 404);
}

TEST_CASE_METHOD(SessionCaller, "a session is made for the account that is named where that is allowed") {
    const Json for_alice = body(R"({"app":"app","account":"alice"})");
    const std::string id = local().post("/1.0/sessions", for_alice).metadata().at("id").as_string();
    CHECK(get("/1.0/sessions/" + id).status == 200);
    CHECK(local().get("/1.0/sessions/" + id).metadata().at("account") == Json("alice"));
    CHECK(call(Method::post, "/1.0/sessions", token("root", true), for_alice).status == 201);
    CHECK(post("/1.0/sessions", for_alice).status == 201);
    CHECK(get("/1.0/sessions").json().at("total_size") == Json(3));
    const ApiReply foreign = call(Method::post, "/1.0/sessions", bob, for_alice);
    CHECK(foreign.status == 403);
    CHECK(foreign.error() == "only administrators make sessions for other accounts");
    const ApiReply unknown = local().post("/1.0/sessions", body(R"({"app":"app","account":"carol"})"));
    CHECK(unknown.status == 400);
    CHECK(unknown.error() == "account 'carol' is unknown");
    CHECK(local().post("/1.0/sessions", body(R"({"app":"app","account":"No Name"})")).status == 400);
}

TEST_CASE_METHOD(SessionCaller, "lists are filtered sorted and paged") {
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

TEST_CASE_METHOD(SessionCaller, "a joinable session that is active is joined") {
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

TEST_CASE_METHOD(SessionCaller, "a session that is not joinable is not joined") {
    const std::string id = new_session();
    const ScriptedInstance instance(*this, id);
    await_status(alice, id, "active");
    const ApiReply reply = post("/1.0/sessions/" + id + "/join", Json::object());
    CHECK(reply.status == 400);
    CHECK(reply.error() == "Session is not joinable");
}

TEST_CASE_METHOD(SessionCaller, "a failed instance is told with its reason") {
    const std::string id = new_session();
    region().await_launches(1);
    eventually("the instance is there", [&] { return !region().instance_of(id).empty(); });
    region().move(region().instance_of(id), "error", "hook failed: post-start");
    const Json session = await_status(alice, id, "error");
    CHECK(session.at("status_message").as_string().find("hook failed: post-start") != std::string::npos);
}

}  // namespace svc::test

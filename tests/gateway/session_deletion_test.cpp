// Sessions are deleted, one or many.
#include <future>

#include "tests/gateway/session_world.h"
#include "tests/support/golden.h"

namespace svc::test {

TEST_CASE_METHOD(SessionCaller, "a deleted session takes its instance with it") {
    const std::string id = new_session();
    region().await_launches(1);
    const ApiReply reply = remove("/1.0/sessions/" + id + "?sync=true");
    CHECK(reply.status == 200);
    check_golden("gateway/golden/session_deleted.json", reply.json());
    CHECK(region().instances() == 0);
    CHECK(get("/1.0/sessions/" + id).status == 404);
    CHECK(remove("/1.0/sessions/" + id).status == 404);
}

TEST_CASE_METHOD(SessionCaller, "a deletion that does not wait goes on by itself") {
    const std::string id = new_session();
    region().await_launches(1);
    CHECK(remove("/1.0/sessions/" + id + "/").status == 200);
    region().await_removals(1);
    eventually("the record is gone", [&] { return get("/1.0/sessions/" + id).status == 404; });
}

TEST_CASE_METHOD(SessionCaller, "force forgets a session whose region does not answer") {
    const std::string id = new_session();
    region().await_launches(1);
    region().set_answers(false);
    CHECK(remove("/1.0/sessions/" + id + "?force=true&sync=true").status == 200);
    CHECK(get("/1.0/sessions/" + id).status == 404);
}

TEST_CASE_METHOD(SessionCaller, "deletions that wait keep no other from beginning") {
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

TEST_CASE_METHOD(SessionCaller, "faulty deletions are refused") {
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

TEST_CASE_METHOD(SessionCaller, "several sessions are deleted at once") {
    const Json pair = Json::array({new_session(), new_session()});
    region().await_launches(2);
    const ApiReply reply = remove("/1.0/sessions?sync=true", Json::object({{"ids", pair}}));
    CHECK(reply.status == 200);
    CHECK(reply.metadata() == Json::object({{"deleted_sessions", pair}, {"errors", Json::array()}}));
    CHECK(region().instances() == 0);
}

TEST_CASE_METHOD(SessionCaller, "a batch that does not wait answers 202") {
    const std::string id = new_session();
    region().await_launches(1);
    const ApiReply reply = remove("/1.0/sessions", Json::object({{"ids", Json::array({id})}}));
    CHECK(reply.status == 202);
    CHECK(reply.json().at("status") == Json("success"));
    eventually("the record is gone", [&] { return get("/1.0/sessions/" + id).status == 404; });
}

TEST_CASE_METHOD(SessionCaller, "a batch of which some fail answers 207 and says which") {
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

TEST_CASE_METHOD(SessionCaller, "a batch of which all fail alike fails with their status") {
    const ApiReply reply = remove("/1.0/sessions", Json::object({{"ids", Json::array({unknown_id})}}));
    CHECK(reply.status == 404);
    CHECK(reply.error() == "session not found");
    CHECK(reply.metadata().at("errors").as_array().size() == 1);
}

}  // namespace svc::test

#include <catch2/catch.hpp>

#include "tests/support/golden.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

ApiReply create(TestGateway& gateway, const std::string& text) {
    return gateway.local().call(Method::post, "/1.0/accounts", text);
}

}  // namespace

TEST_CASE("an account is created with its token and listed without") {
    TestGateway gateway;
    const ApiReply reply = create(gateway, R"({"name":"alice","expiry":"720h"})");
    CHECK(reply.status == 201);
    Json shown = reply.json();
    Json metadata = reply.metadata();
    const std::string token = metadata.at("token").as_string();
    CHECK(token.size() > 80);
    metadata.set("token", "<token>");
    shown.set("metadata", metadata);
    check_golden("gateway/golden/account_created.json", shown);
    const ApiReply list = gateway.local().get("/1.0/accounts/");
    check_golden("gateway/golden/accounts.json", list.json());
    CHECK(list.text.find(token) == std::string::npos);
}

TEST_CASE("an expiry is a duration or a time and a year at first") {
    TestGateway gateway;
    CHECK(create(gateway, R"({"name":"a"})").metadata().at("expires_at") ==
          Json("2025-01-01T03:04:05.678901234Z"));
    CHECK(create(gateway, R"({"name":"b","expiry":"2024-02-03T00:00:00Z"})").metadata().at("expires_at") ==
          Json("2024-02-03T00:00:00.000000000Z"));
}

TEST_CASE("faulty accounts are refused") {
    TestGateway gateway;
    for (const char* text :
         {"", "{", "[]", "{}", R"({"name":""})", R"({"name":"Alice"})", R"({"name":"-a"})",
          R"({"name":"a b"})", R"({"name":7})", R"({"name":"a","expiry":"soon"})",
          R"({"name":"a","expiry":"2020-01-01T00:00:00Z"})", R"({"name":"a","expiry":"0s"})"}) {
        INFO(text);
        CHECK(create(gateway, text).status == 400);
    }
    CHECK(create(gateway, R"({"name":")" + std::string(64, 'a') + R"("})").status == 400);
    CHECK(create(gateway, R"({"name":")" + std::string(63, 'a') + R"("})").status == 201);
    CHECK(gateway.local().get("/1.0/accounts").json().at("total_size") == Json(1));
}

TEST_CASE("a name is taken once") {
    TestGateway gateway;
    gateway.token("alice");
    const ApiReply reply = create(gateway, R"({"name":"alice"})");
    CHECK(reply.status == 409);
    CHECK(reply.error() == "account already exists");
}

TEST_CASE("a deleted account is worth nothing not even when it is made anew") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    CHECK(gateway.call(Method::get, "/1.0/sessions", token).status == 200);
    CHECK(gateway.local().remove("/1.0/accounts/alice").status == 200);
    CHECK(gateway.call(Method::get, "/1.0/sessions", token).status == 401);
    CHECK(gateway.local().remove("/1.0/accounts/alice").status == 404);
    const std::string second = gateway.token("alice");
    CHECK(gateway.call(Method::get, "/1.0/sessions", token).status == 401);
    CHECK(gateway.call(Method::get, "/1.0/sessions", second).status == 200);
}

TEST_CASE("a deleted accounts sessions end and are not those of the next one of its name") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    const std::string id = gateway.create(token).at("id").as_string();
    const std::string kept = gateway.create(gateway.token("bob")).at("id").as_string();
    gateway.region().await_launches(2);
    gateway.region().set_removes(false);
    CHECK(gateway.local().remove("/1.0/accounts/alice").status == 200);
    const Json ending = gateway.local().get("/1.0/sessions/" + id).metadata();
    CHECK(ending.at("status") == Json("terminating"));
    CHECK(ending.at("status_message") == Json("Account was deleted"));
    const std::string second = gateway.token("alice");
    CHECK(gateway.call(Method::get, "/1.0/sessions/" + id, second).status == 404);
    CHECK(gateway.call(Method::get, "/1.0/sessions", second).json().at("total_size") == Json(0));
    CHECK(gateway.local().get("/1.0/sessions/" + kept).metadata().at("status") == Json("created"));
    gateway.region().set_removes(true);
    eventually("its record is gone",
               [&] { return gateway.local().get("/1.0/sessions/" + id).status == 404; });
}

TEST_CASE("accounts are on the local socket alone") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    CHECK(gateway.call(Method::get, "/1.0/accounts", token).status == 404);
    CHECK(gateway.call(Method::post, "/1.0/accounts", token, Json::object({{"name", "b"}})).status == 404);
    CHECK(gateway.call(Method::delete_, "/1.0/accounts/alice", token).status == 404);
    CHECK(gateway.call(Method::get, "/1.0/accounts", "").status == 404);
    CHECK(gateway.local().get("/1.0/accounts").json().at("total_size") == Json(1));
}

TEST_CASE("the local socket is its owners alone") {
    const TestGateway gateway;
    const auto mode = std::filesystem::status(gateway.options().socket).permissions();
    CHECK(mode == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

}  // namespace svc::test

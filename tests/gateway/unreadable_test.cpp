// Records of the gateway that cannot be read.
#include <catch2/catch.hpp>

#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

TEST_CASE(
    "accounts and sessions whose records cannot be read keep no gateway from starting, and can be deleted") {
    TestGateway gateway;
    const std::string mine = gateway.token("me");
    const std::string other = gateway.token("other");
    const std::string broken = gateway.create(mine).at("id").as_string();
    const std::string whole = gateway.create(other).at("id").as_string();
    gateway.stop();
    std::filesystem::path database;
    for (const auto& file : std::filesystem::recursive_directory_iterator(gateway.path()))
        if (file.path().filename() == "gateway.db") database = file.path();
    SqliteStore(database).commit(
        Batch().put("stream-sessions/" + broken, "{").put("accounts/me", R"({"schema":1,"na)"));
    gateway.restart();
    CHECK(gateway.call(Method::get, "/1.0/sessions/" + whole, other).status == 200);
    CHECK(gateway.call(Method::get, "/1.0/sessions", mine).status == 401);
    ApiCaller local = gateway.local();
    CHECK(local.get("/1.0/sessions/" + broken).status == 500);
    CHECK(local.remove("/1.0/sessions/" + broken).status == 200);
    CHECK(local.get("/1.0/sessions/" + broken).status == 404);
    CHECK(local.remove("/1.0/accounts/me").status == 200);
    CHECK_FALSE(gateway.token("me").empty());
    CHECK(gateway.call(Method::get, "/1.0/sessions/" + whole, other).status == 200);
}

}  // namespace svc::test

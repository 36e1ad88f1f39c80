#include "libsvc/model/cluster/browser_session.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

BrowserSession sample_session() {
    BrowserSession session;
    session.id = "c5pvhr3fbn40000000a0";
    session.secret_hash = std::string(64, 'a');
    session.key_hash = std::string(64, 'c');
    session.name = "alice";
    session.role = Role::operator_;
    session.method = LoginMethod::oidc;
    session.certificate = std::string(64, 'b');
    session.parent = "c5pvhr3fbn40000000b0";
    session.address = "192.0.2.1";
    session.user_agent = "Firefox";
    session.created_at = from_unix_seconds(100);
    session.used_at = from_unix_seconds(200);
    session.expires_at = from_unix_seconds(300);
    return session;
}

TEST_CASE("the record of a session keeps its secret to itself") {
    CHECK(to_json(sample_session()).dump() ==
          R"({"id":"c5pvhr3fbn40000000a0","name":"alice","role":"operator","method":"oidc",)"
          R"("address":"192.0.2.1","user_agent":"Firefox","created_at":100,"used_at":200,"expires_at":300})");
}

TEST_CASE("sessions are stored whole, read back and checked") {
    test::check_record_codec<BrowserSession>(
        {"",
         sample_session(),
         browser_session_to_store,
         browser_session_from_store,
         {"id", "secret_hash", "name", "role", "method", "created_at", "used_at", "expires_at"},
         {}});
}

TEST_CASE("the request for a link is checked") {
    const LinkRequest request = LinkRequest::from_json(Json::parse(R"({"role":"viewer","name":"bob"})"));
    CHECK(request.role == Role::viewer);
    CHECK(request.name == "bob");
    CHECK_FALSE(LinkRequest::from_json(Json::object()).role);
    CHECK_THROWS(LinkRequest::from_json(Json::object({{"name", std::string(101, 'x')}})));
    test::check_codec(LinkRequest::from_json, test::all_refused({"[]", R"({"role":"root"})", R"({"role":1})",
                                                                 R"({"name":1})", R"({"name":"a\u0007"})"}));
}

}  // namespace
}  // namespace svc

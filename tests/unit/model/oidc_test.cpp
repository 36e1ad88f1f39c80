#include "libsvc/model/cluster/oidc.h"

#include <catch2/catch.hpp>

#include "tests/support/error_code.h"

namespace svc::test {

TEST_CASE("a provider is reached by https, on the loopback also by http") {
    for (const char* url :
         {"https://login.example.com", "https://login.example.com:8443/realms/svc?x=1",
          "http://localhost:8080", "http://127.0.0.1/", "http://[::1]:1/x", "https://[2001:db8::1]"})
        CHECK(is_provider_url(url));
    for (const char* url : {"", "https://", "http://", "ftp://host", "http://login.example.com",
                            "http://127.example.com", "http://localhost.example.com", "https://user@host",
                            "https://host/#x", "https://ho st", "https://host\n", "http://[2001:db8::1]",
                            "http://[", "https:///path", "https://host\\@other", "HTTPS://host"}) {
        INFO(url);
        CHECK_FALSE(is_provider_url(url));
    }
}

TEST_CASE("the greatest role that a rule gives counts") {
    const auto rules = parse_role_rules(" ops = operator, svc-admins=admin ,*=viewer,a=b=admin");
    REQUIRE(rules.size() == 4);
    CHECK(rules[0] == RoleRule{"ops", Role::operator_});
    CHECK(rules[3] == RoleRule{"a=b", Role::admin});
    CHECK(role_of(rules, {}) == Role::viewer);
    CHECK(role_of(rules, {"someone", "ops"}) == Role::operator_);
    CHECK(role_of(rules, {"svc-admins", "ops"}) == Role::admin);
    CHECK(role_of(rules, {"a=b"}) == Role::admin);
    CHECK(role_of(parse_role_rules("ops=operator"), {"OPS", "op", "*"}) == std::nullopt);
    CHECK(role_of({}, {"ops"}) == std::nullopt);
}

TEST_CASE("a rule that cannot be used is named") {
    CHECK(message_of([] { parse_role_rules("a=admin,b=root"); }) ==
          "'b=root' is no claim value=role with a role of viewer, operator, admin");
    for (const char* text : {"admin", "=admin", "a=", "a=Admin", "*"})
        CHECK(code_of([&] { parse_role_rules(text); }) == ErrorCode::invalid_argument);
}

}  // namespace svc::test

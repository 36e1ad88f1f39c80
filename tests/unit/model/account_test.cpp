#include "libsvc/model/streaming/account.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/record_checks.h"

namespace svc {
namespace {

using test::code_of;

Account sample_account() {
    Account account;
    account.name = "web-page";
    account.created_at = from_rfc3339("2024-01-02T03:04:05Z");
    account.expires_at = from_rfc3339("2025-01-02T03:04:05Z");
    account.token_digest = std::string(64, 'a');
    return account;
}

AccountCreate parse(const char* body) {
    return AccountCreate::from_json(Json::parse(body));
}

}  // namespace

TEST_CASE("an account's digest is stored and never told") {
    CHECK(
        to_json(sample_account()).dump() ==
        R"({"name":"web-page","created_at":"2024-01-02T03:04:05.000000000Z","expires_at":"2025-01-02T03:04:05.000000000Z","admin":false})");
    const auto back = account_from_store(Json::parse(account_to_store(sample_account()).dump()));
    CHECK(back.name == sample_account().name);
    CHECK(back.created_at == sample_account().created_at);
    CHECK(back.expires_at == sample_account().expires_at);
    CHECK(back.token_digest == sample_account().token_digest);
    CHECK_FALSE(back.admin);
}

TEST_CASE("an administrator's account stays one, and those of before are none") {
    Account account = sample_account();
    account.admin = true;
    CHECK(account_from_store(account_to_store(account)).admin);
    CHECK(parse(R"({"name":"a","admin":true})").admin);
    CHECK_FALSE(parse(R"({"name":"a"})").admin);
    CHECK_FALSE(account_from_store(Json::parse(R"({"name":"a","created_at":"2024-01-02T03:04:05Z",)"
                                               R"("expires_at":"2025-01-02T03:04:05Z","token_digest":""})"))
                    .admin);
}

TEST_CASE("the body of an account's creation names it and may name its expiry") {
    CHECK(parse(R"({"name":"a"})").expiry.empty());
    CHECK(parse(R"({"name":"a-1","expiry":"720h","other":1})").expiry == "720h");
    const auto longest = R"({"name":")" + std::string(63, 'a') + "\"}";
    CHECK(parse(longest.c_str()).name.size() == 63);
}

TEST_CASE("names of accounts that are refused") {
    const auto longer = std::string(64, 'a');
    for (const std::string& name :
         {std::string(), longer, std::string("-a"), std::string("A"), std::string("a b"), std::string("a/b"),
          std::string("a_b"), std::string("\xc3\xa4")}) {
        INFO(name);
        CHECK(code_of([&] {
                  AccountCreate::from_json(Json::object({{"name", name}}));
              }) == ErrorCode::invalid_argument);
    }
    for (const char* body : {"{}", R"({"name":1})", R"({"name":"a","expiry":3})", "[]"})
        CHECK(code_of([&] { parse(body); }) == ErrorCode::invalid_argument);
}

}  // namespace svc

#include "libsvc/model/streaming/account.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

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
    test::check_record_codec<Account>({"",
                                       sample_account(),
                                       account_to_store,
                                       account_from_store,
                                       {"name", "created_at", "expires_at", "token_digest"},
                                       {}});
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

TEST_CASE("the body of an account's creation") {
    const auto named = [](const std::string& name) { return Json::object({{"name", name}}); };
    test::check_codec(AccountCreate::from_json,
                      {{R"({"name":"a"})", test::is_taken},
                       {R"({"name":"a-1","expiry":"720h","other":1})", test::is_taken},
                       {named(std::string(63, 'a')), test::is_taken},
                       {named(""), test::is_refused},
                       {named(std::string(64, 'a')), test::is_refused},
                       {named("-a"), test::is_refused},
                       {named("A"), test::is_refused},
                       {named("a b"), test::is_refused},
                       {named("a/b"), test::is_refused},
                       {named("a_b"), test::is_refused},
                       {named("\xc3\xa4"), test::is_refused},
                       {"{}", test::is_refused},
                       {R"({"name":1})", test::is_refused},
                       {R"({"name":"a","expiry":3})", test::is_refused},
                       {"[]", test::is_refused}});
    CHECK(parse(R"({"name":"a"})").expiry.empty());
    CHECK(parse(R"({"name":"a-1","expiry":"720h","other":1})").expiry == "720h");
    CHECK(parse(named(std::string(63, 'a')).dump().c_str()).name.size() == 63);
}

}  // namespace svc

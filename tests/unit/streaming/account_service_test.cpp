#include "libsvc/streaming/account_service.h"

#include <catch2/catch.hpp>

#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using svc::test::code_of;

namespace {

struct AccountServiceWorld {
    SqliteStore store{":memory:"};
    TokenMint mint{std::string(64, 's')};
    test::ManualClock clock;
    AccountService accounts{store, mint, clock};

    bool refuses(const std::string& token) const {
        return code_of([&] { accounts.authenticate(token); }) == ErrorCode::unauthenticated;
    }
};

}  // namespace

TEST_CASE("an account's token authenticates it until it expires") {
    AccountServiceWorld world;
    const auto made = world.accounts.create({"alice", "720h"});
    CHECK(made.account.expires_at == world.clock.now() + std::chrono::hours(720));
    CHECK(world.accounts.authenticate(made.token).name == "alice");
    world.clock.advance(std::chrono::hours(720));
    CHECK(world.refuses(made.token));
}

TEST_CASE("expiries are durations, times, or a year") {
    AccountServiceWorld world;
    CHECK(world.accounts.create({"a", ""}).account.expires_at ==
          world.clock.now() + std::chrono::hours(24 * 365));
    CHECK(world.accounts.create({"b", "2030-01-02T03:04:05+01:00"}).account.expires_at ==
          from_rfc3339("2030-01-02T02:04:05Z"));
    for (const char* expiry :
         {"0", "0s", "2024-01-02T03:04:05Z", "1970-01-01T00:00:00Z", "-5h", "soon", "2500000h"}) {
        INFO(expiry);
        CHECK(code_of([&] { world.accounts.create({"c", expiry}); }) == ErrorCode::invalid_argument);
    }
    CHECK(world.accounts.size() == 2);
}

TEST_CASE("names of accounts are taken once") {
    AccountServiceWorld world;
    world.accounts.create({"alice", ""});
    CHECK_THROWS_WITH(world.accounts.create({"alice", ""}), "account already exists");
    CHECK(code_of([&] { world.accounts.create({"alice", ""}); }) == ErrorCode::conflict);
    CHECK(world.accounts.list().size() == 1);
}

TEST_CASE("the key of an account tells its name") {
    AccountServiceWorld world;
    const Account account = world.accounts.create({"alice-2", ""}).account;
    CHECK(account_key(account) != "alice-2");
    CHECK(account_name(account_key(account)) == "alice-2");
    CHECK(account_name("").empty());
}

TEST_CASE("a removed account's token is worth nothing, also when one of its name is made again") {
    AccountServiceWorld world;
    const auto first = world.accounts.create({"alice", "1h"});
    world.accounts.remove("alice");
    CHECK(world.refuses(first.token));
    world.clock.advance(std::chrono::seconds(1));
    const auto second = world.accounts.create({"alice", "1h"});
    CHECK(world.refuses(first.token));
    CHECK(world.accounts.authenticate(second.token).name == "alice");
    CHECK(code_of([&] { world.accounts.remove("bob"); }) == ErrorCode::not_found);
}

TEST_CASE("two accounts made in one moment with one expiry have tokens of their own") {
    AccountServiceWorld world;
    const auto first = world.accounts.create({"alice", "2030-01-01T00:00:00Z"});
    world.accounts.remove("alice");
    const auto second = world.accounts.create({"alice", "2030-01-01T00:00:00Z"});
    CHECK(world.refuses(first.token));
    CHECK(world.accounts.authenticate(second.token).name == "alice");
}

TEST_CASE("tokens that were never given are refused") {
    AccountServiceWorld world;
    const auto later = world.clock.now() + std::chrono::hours(1);
    world.accounts.create({"alice", ""});
    CHECK(world.refuses(world.mint.account_token("bob", later)));
    CHECK(world.refuses(world.mint.account_token("alice", later)));
    CHECK(world.refuses(""));
}

TEST_CASE("accounts survive in the store without their tokens") {
    AccountServiceWorld world;
    const auto made = world.accounts.create({"alice", ""});
    const AccountService again(world.store, world.mint, world.clock);
    CHECK(again.authenticate(made.token).name == "alice");
    CHECK(world.store.get("accounts/alice")->value.find(made.token) == std::string::npos);
}

TEST_CASE("an account's key is not that of a later one of its name") {
    AccountServiceWorld world;
    const auto first = world.accounts.create({"alice", ""}).account;
    CHECK(account_key(first).starts_with("alice/"));
    CHECK(world.accounts.has(account_key(first)));
    CHECK_FALSE(world.accounts.has("alice"));
    world.accounts.remove("alice");
    CHECK_FALSE(world.accounts.has(account_key(first)));
    const auto second = world.accounts.create({"alice", ""}).account;
    CHECK_FALSE(world.accounts.has(account_key(first)));
    CHECK(world.accounts.has(account_key(second)));
}

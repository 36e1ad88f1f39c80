#include "libsvc/net/server/try_limit.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/support/manual_clock.h"

namespace svc::test {
namespace {

using namespace std::chrono_literals;

const std::string all_blocked =
    "too many wrong passwords from all addresses: try again later, or use the local socket or a join token";

struct TryLimitFixture {
    ManualClock clock;
    TryLimit limit{clock};

    bool may_try(const std::string& address) { return refusal(address).empty(); }
    std::string refusal(const std::string& address) {
        try {
            limit.begin(address, TryLimit::Secret::password);
            return "";
        } catch (const Error& e) {
            return e.what();
        }
    }
    bool gets_in(const std::string& address) try {
        limit.begin(address, TryLimit::Secret::password)->was_right();
        return true;
    } catch (const Error&) {
        return false;
    }
    static std::string stranger(int number) {
        return "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256);
    }
    void exhaust_repeated() {
        for (int i = 0; i < 25; ++i)
            for (int each = 0; each < 5; ++each) REQUIRE(may_try(stranger(i)));
    }
};

}  // namespace

TEST_CASE_METHOD(TryLimitFixture, "wrong passwords of others do not keep out who comes for the first time") {
    exhaust_repeated();
    CHECK(may_try("10.0.0.200"));  // a wrong one, which is its first
    CHECK(refusal("10.0.0.200") == all_blocked);
    CHECK(gets_in("198.51.100.1"));
    CHECK(gets_in("198.51.100.1"));  // it has no wrong ones
    clock.advance(6s);
    CHECK(gets_in("10.0.0.200"));
}

TEST_CASE_METHOD(TryLimitFixture, "one address alone never uses up what others may repeat") {
    int tried = 0;
    for (int second = 0; second < 3600; ++second, clock.advance(1s))
        while (may_try("192.0.2.1")) ++tried;
    CHECK(tried == 5 * 16);  // at 0, 10, 30, 70, 150, 310 s, then every 300 s
    CHECK(may_try("192.0.2.2"));
    for (int i = 0; i < 4; ++i) CHECK(may_try("192.0.2.2"));
}

TEST_CASE_METHOD(TryLimitFixture, "first tries are limited over all addresses, too") {
    for (int i = 0; i < 1000; ++i) REQUIRE(may_try(stranger(i)));
    CHECK(refusal("198.51.100.1") == all_blocked);
    clock.advance(1s);
    CHECK(gets_in("198.51.100.1"));
    CHECK(may_try("198.51.100.2"));
    CHECK(refusal("198.51.100.3") == all_blocked);
}

TEST_CASE_METHOD(TryLimitFixture, "a block tells how long it lasts, and a right password ends the growth") {
    const auto block = [&] {
        for (int i = 0; i < 5; ++i) REQUIRE(may_try("192.0.2.1"));
        return refusal("192.0.2.1");
    };
    CHECK(block() == "too many wrong passwords: try again in 10 seconds");
    clock.advance(10s);
    CHECK(block() == "too many wrong passwords: try again in 20 seconds");
    clock.advance(15s);
    CHECK(refusal("192.0.2.1") == "too many wrong passwords: try again in 5 seconds");
    clock.advance(5s);
    CHECK(gets_in("192.0.2.1"));
    CHECK(block() == "too many wrong passwords: try again in 10 seconds");
}

TEST_CASE_METHOD(TryLimitFixture, "tokens are counted by address alone") {
    exhaust_repeated();
    CHECK(may_try("192.0.2.1"));
    CHECK(refusal("192.0.2.1") == all_blocked);
    CHECK_NOTHROW(limit.begin("192.0.2.1", TryLimit::Secret::token));
}

}  // namespace svc::test

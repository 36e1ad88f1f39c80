#include "libsvc/services/common/retry.h"

#include <catch2/catch.hpp>

#include "tests/support/error_code.h"

namespace svc::test {

TEST_CASE("a lost race is run again, what was refused is not") {
    int checks = 0, starts = 0;
    const auto lose_twice = [&] {
        if (++starts <= 2) throw Error(ErrorCode::conflict, "a stored record has changed meanwhile");
        return starts;
    };
    CHECK(retry_on_conflict([&] { ++checks; }, lose_twice) == 3);
    CHECK(checks == 3);
    const auto refuse = [&] {
        ++checks;
        throw Error(ErrorCode::conflict, "the name is taken");
    };
    CHECK(message_of([&] { retry_on_conflict(refuse, lose_twice); }) == "the name is taken");
    CHECK(checks == 4);
    CHECK(starts == 3);
}

TEST_CASE("a race that is never won ends") {
    int starts = 0;
    const auto lose = [&] {
        ++starts;
        throw Error(ErrorCode::conflict, "a stored record has changed meanwhile");
    };
    CHECK(code_of([&] { retry_on_conflict(lose); }) == ErrorCode::conflict);
    CHECK(starts == 20);
}

}  // namespace svc::test

#include "libsvc/base/rollback.h"

#include <catch2/catch.hpp>
#include <stdexcept>

TEST_CASE("undo steps run in reverse and a failing one stops no other") {
    std::string order;
    {
        svc::Rollback rollback;
        rollback.add("first", [&] { order += "1"; });
        rollback.add("second", [] { throw std::runtime_error("expected by the test"); });
        rollback.add("third", [&] { order += "3"; });
    }
    CHECK(order == "31");
}

TEST_CASE("a dismissed rollback undoes nothing") {
    bool undone = false;
    {
        svc::Rollback rollback;
        rollback.add("step", [&] { undone = true; });
        rollback.dismiss();
    }
    CHECK_FALSE(undone);
}

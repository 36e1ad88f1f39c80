#include "libsvc/services/instances/reports/report_memory.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

namespace svc::test {

TEST_CASE("reports of instances that are gone are forgotten") {
    ManualClock clock;
    ReportMemory memory(clock);
    while (memory.admit("here")) continue;
    while (memory.admit("gone")) continue;
    CHECK(memory.is_news("here", "error"));
    CHECK(memory.is_news("gone", "error"));
    memory.forget_all_but([](std::string_view instance) { return instance == "here"; });
    CHECK_FALSE(memory.admit("here"));
    CHECK_FALSE(memory.is_news("here", "error"));
    CHECK(memory.admit("gone"));
    CHECK(memory.is_news("gone", "error"));
}

}  // namespace svc::test

#include "libsvc/base/once.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using svc::Once;

TEST_CASE("the first call of a Once wins", "[base]") {
    std::vector<std::string> seen;
    Once<std::string> once([&](const std::string& text) { seen.push_back(text); });
    CHECK_FALSE(once.used());
    CHECK(once("first"));
    CHECK_FALSE(once("second"));
    CHECK(once.used());
    CHECK(seen == std::vector<std::string>{"first"});
}

TEST_CASE("a dismissed Once calls nobody", "[base]") {
    bool called = false;
    Once<> once([&] { called = true; });
    CHECK(once.dismiss());
    CHECK_FALSE(once.dismiss());
    CHECK_FALSE(once());
    CHECK_FALSE(called);
}

TEST_CASE("a Once frees its callback when it was called", "[base]") {
    const auto held = std::make_shared<int>(1);
    Once<> once([held] {});
    CHECK(held.use_count() == 2);
    once();
    CHECK(held.use_count() == 1);
}

TEST_CASE("of many threads exactly one runs the callback of a Once", "[base]") {
    std::atomic<int> calls{0}, winners{0};
    Once<> once([&] { ++calls; });
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) threads.emplace_back([&] { winners += once() ? 1 : 0; });
    }
    CHECK(calls == 1);
    CHECK(winners == 1);
}

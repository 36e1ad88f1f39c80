#include "libsvc/base/thread_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <latch>
#include <stdexcept>

TEST_CASE("a full pool refuses jobs") {
    std::latch started(1);
    std::latch go_on(1);
    std::atomic<int> runs = 0;
    svc::ThreadPool pool("test", 1, 2);
    REQUIRE(pool.post([&] {
        started.count_down();
        go_on.wait();
        ++runs;
    }));
    started.wait();  // the thread is taken, so the next two stay in the queue
    CHECK(pool.post([&] { ++runs; }));
    CHECK(pool.post([&] { ++runs; }));
    CHECK_FALSE(pool.post([&] { ++runs; }));
    CHECK(pool.queued() == 2);
    go_on.count_down();
    pool.stop();
    CHECK(runs == 3);
}

TEST_CASE("a pool runs what is queued before it ends and takes no more") {
    std::atomic<int> runs = 0;
    svc::ThreadPool pool("test", 3, 1000);
    for (int i = 0; i < 500; ++i) REQUIRE(pool.post([&] { ++runs; }));
    pool.stop();
    CHECK(runs == 500);
    CHECK_FALSE(pool.post([&] { ++runs; }));
    pool.stop();
}

TEST_CASE("a job that throws leaves the thread alive") {
    std::latch done(1);
    svc::ThreadPool pool("test", 1, 10);
    REQUIRE(pool.post([] { throw std::runtime_error("expected by the test"); }));
    REQUIRE(pool.post([&] { done.count_down(); }));
    done.wait();
    SUCCEED();
}

TEST_CASE("a pool has as many threads as jobs at once, and no more than it may have") {
    constexpr int most = 3;
    std::latch all_run(most);
    std::latch go_on(1);
    std::atomic<int> runs = 0;
    svc::ThreadPool pool("test", most, 10);
    const auto threads = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    };
    const auto before = threads();
    for (int i = 0; i < most + 2; ++i)
        REQUIRE(pool.post([&] {
            if (++runs <= most) all_run.count_down();
            go_on.wait();
        }));
    all_run.wait();  // without a thread for each, this would wait for ever
    CHECK(threads() == before + most - 1);
    CHECK(pool.queued() == 2);
    go_on.count_down();
    pool.stop();
    CHECK(runs == most + 2);
}

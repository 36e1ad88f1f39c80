#pragma once
// Threads that try the same thing at the same moment.
#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "libsvc/base/error.h"

namespace svc::test {

// How many of `rivals` get through; the others must be refused because the record has changed.
inline int count_passing(int rivals, const std::function<void(int)>& change) {
    std::barrier together(rivals);
    std::atomic<int> passed{0}, refused{0};
    std::vector<std::jthread> threads;
    for (int rival = 0; rival < rivals; ++rival)
        threads.emplace_back([&, rival] {
            together.arrive_and_wait();
            try {
                change(rival);
                ++passed;
            } catch (const Error& e) {
                if (e.code() == ErrorCode::precondition_failed) ++refused;
            }
        });
    threads.clear();
    CHECK(passed + refused == rivals);
    return passed;
}

}  // namespace svc::test

#pragma once
// The one bounded wait of the tests, for what no condition variable, future or virtual clock can tell. Where
// the product can tell, wait for that instead.
#include <chrono>
#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace svc::test {

// Nothing that works takes as long, also on a machine with many other things to do. A wait that times out has
// failed: no test waits this long to see that something does not happen.
inline constexpr std::chrono::seconds long_wait{60};

// Calls `condition` until it holds: true, or false after `longest`. For a test that says itself what it
// expected: CHECK(eventually([&] { ... })). On any thread.
template <std::predicate Condition>
bool eventually(Condition&& condition, std::chrono::steady_clock::duration longest = long_wait) {
    constexpr int quick = 1000;  // calls without a pause: most conditions need a change of threads only
    const auto end = std::chrono::steady_clock::now() + longest;
    for (int calls = 0; !condition(); ++calls) {
        if (std::chrono::steady_clock::now() > end) return false;
        if (calls < quick)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

// As above, but throws when the time is up: the test case fails with `what`, "the instance runs". On any
// thread.
template <std::predicate Condition>
void eventually(std::string_view what, Condition&& condition) {
    if (!eventually(condition))
        throw std::runtime_error("not within " + std::to_string(long_wait.count()) +
                                 " s: " + std::string(what));
}

}  // namespace svc::test

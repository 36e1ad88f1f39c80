#include "libsvc/runtime/lxc/watcher.h"

#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <future>

using namespace svc;
using namespace svc::lxc;
using namespace std::chrono_literals;

namespace {

struct Pipe {
    FileDescriptor read, write;
    Pipe() {
        std::array<int, 2> ends{};
        REQUIRE(::pipe(ends.data()) == 0);
        read = FileDescriptor(ends[0]);
        write = FileDescriptor(ends[1]);
    }
};

}  // namespace

TEST_CASE("a watched descriptor calls back once, also when it hangs up") {
    Watcher watcher;
    Pipe pipe;
    std::promise<void> called;
    watcher.watch(pipe.read.get(), [&] { called.set_value(); });  // a second call would throw
    pipe.write.reset();
    CHECK(called.get_future().wait_for(20s) == std::future_status::ready);
    std::promise<void> after;
    watcher.after(0ms, [&] { after.set_value(); });
    CHECK(after.get_future().wait_for(20s) == std::future_status::ready);
}

TEST_CASE("delays are called in the order of their times, cancelled ones never") {
    Watcher watcher;
    std::string order;
    std::promise<void> done;
    const auto cancelled = watcher.after(30ms, [&] { order += 'x'; });
    watcher.after(40ms, [&] {
        order += 'b';
        done.set_value();
    });
    watcher.after(1ms, [&] { order += 'a'; });
    watcher.cancel(cancelled);
    REQUIRE(done.get_future().wait_for(20s) == std::future_status::ready);
    CHECK(order == "ab");
}

TEST_CASE("a call that throws does not end the watcher") {
    Watcher watcher;
    std::promise<void> done;
    watcher.after(0ms, [] { throw std::runtime_error("oh"); });
    watcher.after(1ms, [&] { done.set_value(); });
    CHECK(done.get_future().wait_for(20s) == std::future_status::ready);
}

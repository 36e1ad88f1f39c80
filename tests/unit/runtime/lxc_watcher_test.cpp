#include "libsvc/runtime/lxc/processes/watcher.h"
#include "tests/support/eventually.h"

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
    Pipe pipe;
    std::promise<void> called, after;
    Watcher watcher;
    watcher.watch(pipe.read.get(), [&] { called.set_value(); });  // a second call would throw
    pipe.write.reset();
    CHECK(called.get_future().wait_for(test::long_wait) == std::future_status::ready);
    watcher.after(0ms, [&] { after.set_value(); });
    CHECK(after.get_future().wait_for(test::long_wait) == std::future_status::ready);
}

TEST_CASE("delays are called in the order of their times, cancelled ones never") {
    std::string order;
    std::promise<void> all_known, done;
    const std::shared_future<void> known(all_known.get_future());
    Watcher watcher;
    watcher.after(0ms, [&] { known.wait(); });
    const auto cancelled = watcher.after(0ms, [&] { order += 'x'; });
    watcher.after(1ms, [&] {
        order += 'b';
        done.set_value();
    });
    watcher.after(-1min, [&] { order += 'a'; });  // due before the others, however slowly they are told
    watcher.cancel(cancelled);
    all_known.set_value();
    REQUIRE(done.get_future().wait_for(test::long_wait) == std::future_status::ready);
    CHECK(order == "ab");
}

TEST_CASE("a call that throws does not end the watcher") {
    std::promise<void> done;
    Watcher watcher;
    watcher.after(0ms, [] { throw std::runtime_error("oh"); });
    watcher.after(1ms, [&] { done.set_value(); });
    CHECK(done.get_future().wait_for(test::long_wait) == std::future_status::ready);
}

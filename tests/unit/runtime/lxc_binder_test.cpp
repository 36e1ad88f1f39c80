// What a kernel offers of binder, from the texts that it shows.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/host/binder.h"

using namespace svc;
using namespace svc::lxc;

TEST_CASE("binderfs is taken where the kernel has it, whatever devices there are") {
    const BinderSupport support = find_binder("nodev\tsysfs\n\text4\nnodev\tbinder\n", "b0,h0,v0");
    CHECK(support.file_system);
    CHECK(support.usable());
    CHECK(support.text() == "binderfs");
    CHECK(support.ranges().empty());
    CHECK_FALSE(find_binder("\tbinder\nnodev\tbinderoo\n", "").file_system);
}

TEST_CASE(
    "devices of the module are sets of three, in their order, and the machine's own are not given out") {
    const BinderSupport support = find_binder("", "binder,hwbinder,vndbinder,b0,h0,v0,b1,h1,v1,b2,h2\n");
    REQUIRE(support.sets.size() == 2);
    CHECK(support.sets[1] == BinderSet{"b1", "h1", "v1"});
    CHECK(support.usable());
    CHECK(support.text() == "binder devices for 2 guests");
}

TEST_CASE("a set of devices goes with one range of user ids for ever") {
    const BinderSupport support = find_binder("", "b0,h0,v0,b1,h1,v1");
    const auto ranges = support.ranges();
    REQUIRE(ranges.size() == 2);
    CHECK(ranges[0].count == android_ids);
    CHECK(ranges[0].first + android_ids == ranges[1].first);
    CHECK(ranges[0].first % 65536 == 0);
    CHECK(support.set_of(ranges[0].first)[0] == "b0");
    CHECK(support.set_of(ranges[1].first)[2] == "v1");
    CHECK_THROWS_AS(support.set_of(ranges[1].first + android_ids), Error);
    CHECK_THROWS_AS(support.set_of(65536), Error);
}

TEST_CASE("what a kernel lacks is told, with what helps") {
    const BinderSupport none = find_binder("nodev\tsysfs\n", "");
    CHECK_FALSE(none.usable());
    CHECK_THAT(none.text(),
               Catch::StartsWith("the kernel has no binder, or its module is not loaded (modprobe "));
    for (const char* devices : {"binder", "binder,hwbinder,vndbinder", "(null)\n", "b0,h0"})
        CHECK_THAT(find_binder("", devices).fault,
                   Catch::StartsWith("the kernel has neither binderfs nor three"));
}

TEST_CASE("the nodes of a set have the guest's names") {
    const auto nodes = binder_nodes({"b7", "h7", "v7"}, "/machine/dev");
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[1].name == "hwbinder");
    CHECK(nodes[1].source == "/machine/dev/h7");
}

// What a kernel offers of binder, from the texts that it shows.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/host/binder.h"

using namespace svc;
using namespace svc::lxc;

TEST_CASE("binderfs is taken where the kernel has it, whatever devices there are") {
    const BinderSupport support =
        find_binder("nodev\tsysfs\n\text4\nnodev\tbinder\n", "svc-b0,svc-h0,svc-v0");
    CHECK(support.file_system);
    CHECK(support.usable());
    CHECK(support.text() == "binderfs");
    CHECK(support.sets.empty());
    CHECK_FALSE(find_binder("\tbinder\nnodev\tbinderoo\n", "").file_system);
}

TEST_CASE("devices for guests are sets of three in their order; those of other programs are not given out") {
    BinderSupport support = find_binder(
        "",
        "binder,hwbinder,vndbinder,svc-b0,svc-h0,anbox-binder,svc-v0,svc-b1,svc-h1,svc-v1,svc-b2,svc-h2\n");
    REQUIRE(support.sets.size() == 2);
    CHECK(support.sets[0] == BinderSet{"svc-b0", "svc-h0", "svc-v0"});
    CHECK(support.sets[1] == BinderSet{"svc-b1", "svc-h1", "svc-v1"});
    CHECK(support.usable());
    support.ranges = {range_of_set(1)};
    support.left_out = {"svc-b0 is left out: /dev/svc-b0: Operation not permitted"};
    CHECK(support.text() ==
          "binder devices for 1 guests; svc-b0 is left out: /dev/svc-b0: Operation not permitted");
}

TEST_CASE("a set of devices goes with one range of user ids for ever") {
    const BinderSupport support = find_binder("", "svc-b0,svc-h0,svc-v0,svc-b1,svc-h1,svc-v1");
    const IdRange first = range_of_set(0), second = range_of_set(1);
    CHECK(first.count == android_ids);
    CHECK(first.first + android_ids == second.first);
    CHECK(first.first % 65536 == 0);
    CHECK(binder_user(second) == second.first + 1000);
    CHECK(support.set_of(first.first)[0] == "svc-b0");
    CHECK(support.set_of(second.first)[2] == "svc-v1");
    CHECK_THROWS_AS(support.set_of(second.first + android_ids), Error);
    CHECK_THROWS_AS(support.set_of(65536), Error);
}

TEST_CASE("what a kernel lacks is told, with what helps") {
    const BinderSupport none = find_binder("nodev\tsysfs\n", "");
    CHECK_FALSE(none.usable());
    CHECK_THAT(none.text(),
               Catch::StartsWith("the kernel has no binder, or its module is not loaded (modprobe "));
    for (const char* devices : {"binder", "binder,hwbinder,vndbinder", "(null)\n", "svc-b0,svc-h0", "b,h,v"})
        CHECK_THAT(find_binder("", devices).fault,
                   Catch::StartsWith("the kernel has neither binderfs nor three"));
}

TEST_CASE("the nodes of a set have the guest's names") {
    const auto nodes = binder_nodes({"svc-b7", "svc-h7", "svc-v7"}, "/machine/dev");
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[1].name == "hwbinder");
    CHECK(nodes[1].source == "/machine/dev/svc-h7");
}

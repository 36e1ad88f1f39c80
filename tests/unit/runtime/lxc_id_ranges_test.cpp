// Ranges of user ids for containers, without root.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <set>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/host/id_ranges.h"
#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::lxc;
using namespace svc::test;

namespace {

struct RangesWorld {
    RangesWorld() {
        for (const char* const folder : {"one", "two"}) std::filesystem::create_directory(path(folder));
        for (const char* const id : {"a", "b", "c"})
            for (const char* const folder : {"one", "two"})
                std::filesystem::create_directory(path(folder) / id);
    }
    std::filesystem::path path(const std::string& name) const { return directory.path() / name; }
    IdRanges daemon(const std::string& folder) const { return {path("run/ids"), path(folder), region}; }

    TemporaryDirectory directory{"/var/tmp", "svc-id-ranges-"};
    IdRegion region{1 << 20, 3, 65536, 100'000};
};

}  // namespace

TEST_CASE("each container has a range of its own until it is released") {
    const RangesWorld world;
    IdRanges ranges = world.daemon("one");
    CHECK(ranges.take("a") == 1048576);
    CHECK(ranges.take("b") == 1048576 + 65536);
    CHECK(ranges.take("a") == 1048576);
    CHECK(ranges.first_id("b") == 1048576 + 65536);
    CHECK(ranges.first_id("c") == 100'000);
    ranges.release("a");
    ranges.release("a");
    CHECK(ranges.take("c") == 1048576);
}

TEST_CASE("containers of two daemons do not share a range") {
    const RangesWorld world;
    IdRanges one = world.daemon("one");
    IdRanges two = world.daemon("two");
    CHECK(one.take("a") == 1048576);
    CHECK(two.take("a") == 1048576 + 65536);
    CHECK(one.take("b") == 1048576 + 2 * 65536);
    CHECK(code_of([&] { two.take("b"); }) == ErrorCode::exhausted);
    one.release("a");
    CHECK(two.take("b") == 1048576);
}

TEST_CASE("the next daemon knows the ranges of containers, whether it can read them or not") {
    const RangesWorld world;
    world.daemon("one").take("a");
    IdRanges next = world.daemon("one");
    CHECK(next.first_id("a") == 1048576);
    CHECK(next.take("b") == 1048576 + 65536);
}

TEST_CASE("the range of a container whose folder is gone can be taken") {
    const RangesWorld world;
    IdRanges one = world.daemon("one");
    one.take("a");
    std::filesystem::remove(world.path("one/a"));
    SECTION("by the next daemon") {
        IdRanges next = world.daemon("one");
        CHECK(next.take("b") == 1048576);
    }
    SECTION("by another daemon, which keeps it when the first one releases it") {
        IdRanges two = world.daemon("two");
        CHECK(two.take("a") == 1048576);
        one.release("a");
        CHECK(one.take("b") == 1048576 + 65536);
    }
}

TEST_CASE("a container that runs keeps the range it has") {
    const RangesWorld world;
    IdRanges ranges = world.daemon("one");
    CHECK(ranges.keep("a", {1048576}));
    CHECK_FALSE(ranges.keep("a", {1048576}));
    CHECK(ranges.take("b") == 1048576 + 65536);
    CHECK(ranges.keep("c", {100'000}));  // of an earlier version: the common range
    CHECK(ranges.first_id("c") == 100'000);
    CHECK(world.daemon("two").take("c") == 1048576 + 2 * 65536);
}

TEST_CASE("ranges that belong to others of the machine are passed over") {
    RangesWorld world;
    world.region.reserved = {{1048576 + 65535, 1048576 + 65535}};
    CHECK(world.daemon("one").take("a") == 1048576 + 65536);
    world.region.first = 65537;  // ranges begin at a multiple of 65536
    CHECK(world.daemon("two").take("a") == 131072);
}

TEST_CASE("a large range takes the place of several") {
    RangesWorld world;
    IdRanges small = world.daemon("one");
    world.region.count = 100'000;
    IdRanges large = world.daemon("two");
    CHECK(small.take("a") == 1048576);
    CHECK(large.take("a") == 1048576 + 2 * 65536);
    CHECK(small.take("b") == 1048576 + 65536);
    CHECK(code_of([&] { small.take("c"); }) == ErrorCode::exhausted);
}

TEST_CASE("a container that needs more ids than others has a range of its own size") {
    const RangesWorld world;
    const std::vector<IdRange> places{{1048576, 131'072}, {1048576 + 2 * 65536, 131'072}};
    IdRanges ranges = world.daemon("one");
    CHECK(ranges.take("a") == 1048576);
    CHECK(ranges.take_of(places, "b") == 1048576 + 2 * 65536);
    CHECK(ranges.take_of(places, "b") == 1048576 + 2 * 65536);
    CHECK(ranges.take("b") == 1048576 + 2 * 65536);
    CHECK(code_of([&] { world.daemon("two").take_of(places, "a"); }) == ErrorCode::exhausted);
    SECTION("one that it had from elsewhere is given back") {
        ranges.release("b");
        CHECK(ranges.take_of(places, "a") == 1048576);  // the same first id, and twice as many
        CHECK(ranges.take("c") == 1048576 + 2 * 65536);
    }
    SECTION("all of it is released, also by the next daemon") {
        IdRanges next = world.daemon("one");
        next.release("b");
        CHECK(std::distance(std::filesystem::directory_iterator(world.path("run/ids")),
                            std::filesystem::directory_iterator()) == 1);
    }
}

TEST_CASE("without ranges all containers share one") {
    RangesWorld world;
    world.region.ranges = 0;
    IdRanges ranges = world.daemon("one");
    CHECK(ranges.take("a") == 100'000);
    CHECK(ranges.take("b") == 100'000);
    CHECK_FALSE(std::filesystem::exists(world.path("run/ids")));
}

TEST_CASE("threads and daemons that choose at once choose different ranges") {
    RangesWorld world;
    world.region.ranges = 64;
    IdRanges one = world.daemon("one");
    IdRanges two = world.daemon("two");
    for (int i = 0; i < 32; ++i)
        for (const char* const folder : {"one", "two"})
            std::filesystem::create_directory(world.path(folder) / std::to_string(i));
    {
        std::vector<std::jthread> threads;
        for (IdRanges* ranges : {&one, &two})
            for (int thread = 0; thread < 4; ++thread)
                threads.emplace_back([ranges, thread] {
                    for (int i = thread; i < 32; i += 4) ranges->take(std::to_string(i));
                });
    }
    std::set<std::uint32_t> taken;
    for (const IdRanges* ranges : {&one, &two})
        for (int i = 0; i < 32; ++i) taken.insert(ranges->first_id(std::to_string(i)));
    CHECK(taken.size() == 64);
}

TEST_CASE("no other user can open the registry, and so lock it") {
    using std::filesystem::perms;
    const RangesWorld world;
    if (GENERATE(false, true)) {  // of an earlier version
        std::filesystem::create_directories(world.path("run/ids"));
        std::filesystem::permissions(world.path("run/ids"), perms{0755});
    }
    world.daemon("one").take("a");
    CHECK(std::filesystem::status(world.path("run/ids")).permissions() == perms::owner_all);
}

TEST_CASE("the registry goes with the last daemon") {
    const RangesWorld world;
    IdRanges ranges = world.daemon("one");
    ranges.take("a");
    ranges.tear_down();
    CHECK(std::filesystem::exists(world.path("run/ids")));
    ranges.release("a");
    ranges.tear_down();
    CHECK_FALSE(std::filesystem::exists(world.path("run")));
    CHECK(ranges.take("b") == 1048576);
}

TEST_CASE("accounts and ranges of others are read from their files") {
    using Ids = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    CHECK(ids_of_others({"root:x:0:0::/root:/bin/sh\nann:x:1879048200:100::/:/bin/sh\nrubbish\n"},
                        {"root:100000:65536\nann:200000:65536\nbob:1:x\n0:1:1\n", "ann:5:0"}) ==
          Ids{{1879048200, 1879048200}, {200'000, 265'535}});
}

TEST_CASE("the host id of a container's root is in its id map") {
    const auto ids = parse_mapped_root("         0 1879048192     131072\n");
    REQUIRE(ids);
    CHECK(ids->first == 1879048192);
    CHECK(ids->count == 131072);
    const auto second =
        parse_mapped_root("        10         20          1\n         0         70          1\n");
    CHECK((second && second->first == 70));
    CHECK_FALSE(parse_mapped_root(""));
    CHECK_FALSE(parse_mapped_root("         1 1879048192      65536\n"));
}

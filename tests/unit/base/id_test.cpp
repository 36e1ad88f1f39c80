#include "libsvc/base/id.h"

#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

class FixedClock final : public svc::Clock {
  public:
    svc::Time now() const override { return svc::from_unix_seconds(seconds); }
    svc::SteadyTime steady_now() const override { return {}; }
    bool wait(std::stop_token, svc::Duration) override { return true; }

    std::int64_t seconds = 0x65B7A0F1;
};

std::vector<unsigned> decode(const std::string& id) {
    std::vector<unsigned> bytes;
    unsigned buffer = 0;
    unsigned bits = 0;
    for (char c : id) {
        buffer = buffer << 5U | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
        bits += 5;
        if (bits < 8) continue;
        bits -= 8;
        bytes.push_back(buffer >> bits & 0xFFU);
    }
    return bytes;
}

}  // namespace

TEST_CASE("an object id starts with its time and sorts by it") {
    FixedClock clock;
    svc::SystemIdSource source(clock);
    const std::string first = source.object_id();
    CHECK(svc::is_object_id(first));
    const auto bytes = decode(first);
    REQUIRE(bytes.size() == 12);
    CHECK((bytes[0] << 24U | bytes[1] << 16U | bytes[2] << 8U | bytes[3]) == 0x65B7A0F1U);
    const auto next = decode(source.object_id());
    CHECK(std::equal(bytes.begin(), bytes.begin() + 9, next.begin()));  // same second, machine and process
    clock.seconds += 1;
    CHECK(source.object_id() > first);
}

TEST_CASE("object ids of many threads and two sources differ") {
    FixedClock clock;
    svc::SystemIdSource sources[2]{svc::SystemIdSource(clock), svc::SystemIdSource(clock)};
    std::mutex mutex;
    std::set<std::string> ids;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                std::vector<std::string> mine;
                for (int i = 0; i < 2000; ++i) mine.push_back(sources[t % 2].object_id());
                std::lock_guard lock(mutex);
                ids.insert(mine.begin(), mine.end());
            });
    }
    CHECK(ids.size() == 8000);
}

TEST_CASE("uuids and secrets have their form") {
    FixedClock clock;
    svc::SystemIdSource source(clock);
    CHECK(svc::is_uuid(source.uuid()));
    CHECK(source.uuid() != source.uuid());
    CHECK(source.secret().size() == 64);
    CHECK_FALSE(svc::is_uuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8"));  // version 1
    CHECK_FALSE(svc::is_object_id("bw00000000000000000Z"));
    CHECK_FALSE(svc::is_object_id("short"));
}

#include "libsvc/events/event_window.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/events/event_bus.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_disk.h"

namespace svc::test {
namespace {

namespace fs = std::filesystem;

const std::set<EventType> all{EventType::operation, EventType::logging, EventType::lifecycle};

// A bus over a directory; `crash` leaves the files as a killed process does.
struct World {
    ManualClock clock;
    TemporaryDirectory directory{fs::temp_directory_path(), "svc-events-"};
    EventWindowOptions options{directory.path() / "events", 10'000, std::size_t{16} << 20U, "first-boot"};
    std::unique_ptr<EventBus> bus = std::make_unique<EventBus>(clock, options);
    int crashes = 0;

    void publish(int count) {
        for (int i = 0; i < count; ++i) bus->publish(EventType::lifecycle, Json::object({{"number", i}}));
    }
    void restart() {
        bus.reset();
        bus = std::make_unique<EventBus>(clock, options);
    }
    void crash(const std::string& next_boot = "first-boot") {
        const auto copy = directory.path() / ("crashed-" + std::to_string(++crashes));
        fs::copy(options.directory, copy, fs::copy_options::recursive);
        options.directory = copy;
        options.boot_id = next_boot;
        bus = std::make_unique<EventBus>(clock, options);
    }
    void crash_in_place() {  // the old one's end writes elsewhere
        const auto old = directory.path() / "old";
        fs::copy(options.directory, old, fs::copy_options::recursive);
        bus = std::make_unique<EventBus>(clock, EventWindowOptions{});
        fs::remove_all(options.directory);
        fs::copy(old, options.directory, fs::copy_options::recursive);
        bus = std::make_unique<EventBus>(clock, options);
    }
    std::vector<Json> read(std::uint64_t since) {
        std::vector<Json> texts;
        const auto replay = bus->replay(
            all, [](const Event&) { return true; }, since);
        for (bool live = false; !live;) {
            const EventPage page = replay->next(1000);
            for (const auto& text : page.texts) texts.push_back(Json::parse(*text));
            live = page.live;
        }
        return texts;
    }
    std::vector<std::int64_t> numbers(std::uint64_t since) {
        std::vector<std::int64_t> found;
        for (const Json& event : read(since))
            found.push_back(event.at("type") == Json("gap") ? -event.at("metadata").at("first").as_int()
                                                            : event.at("sequence").as_int());
        return found;
    }
    fs::path newest_file() const {
        fs::path newest;
        for (const auto& entry : fs::directory_iterator(options.directory))
            if (entry.path().extension() == ".events") newest = std::max(newest, entry.path());
        return newest;
    }
};
using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE_METHOD(World, "numbers and events survive a restart") {
    publish(3);
    const Json before = read(1).front();
    restart();
    CHECK(bus->last_sequence() == 3);
    CHECK(read(1).front() == before);
    publish(1);
    CHECK(numbers(0) == Numbers{1, 2, 3, 4});
    restart();
    CHECK(numbers(3) == Numbers{4});
}

TEST_CASE_METHOD(World, "a killed process loses no event and no number") {
    publish(3);
    crash();
    publish(2);
    CHECK(numbers(1) == Numbers{2, 3, 4, 5});
}

TEST_CASE_METHOD(World, "half a line at the end of a killed process is no event") {
    publish(2);
    std::ofstream(newest_file(), std::ios::app) << R"({"type":"lifecycle","times)";
    crash();
    publish(1);
    CHECK(numbers(0) == Numbers{1, 2, 3});
    restart();
    CHECK(numbers(0) == Numbers{1, 2, 3});
}

TEST_CASE_METHOD(World, "after the machine's end numbers jump, so that none comes twice and the gap shows") {
    publish(3);
    crash("second-boot");
    publish(1);
    const auto next = static_cast<std::int64_t>(bus->last_sequence());
    CHECK(next > 1000);
    CHECK(numbers(0) == Numbers{1, 2, 3, -next, next});
    crash("third-boot");
    publish(1);
    CHECK(static_cast<std::int64_t>(bus->last_sequence()) > next + 1000);
}

TEST_CASE_METHOD(World, "a jump survives an end without events") {
    publish(1);
    crash("second-boot");
    const auto after_jump = bus->last_sequence();
    restart();
    CHECK(bus->last_sequence() == after_jump);
    crash("second-boot");
    CHECK(bus->last_sequence() == after_jump);
}

TEST_CASE_METHOD(World, "a clean end is remembered by the next run of the machine") {
    publish(3);
    options.boot_id = "second-boot";
    restart();
    publish(1);
    CHECK(numbers(0) == Numbers{1, 2, 3, 4});
}

TEST_CASE_METHOD(World, "a hole of nothing in a file ends what is read of it") {
    publish(3);
    {
        std::fstream file(newest_file(), std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(fs::file_size(newest_file()) / 2));
        file << std::string(4, '\0');
    }
    crash("second-boot");
    publish(1);
    const auto next = static_cast<std::int64_t>(bus->last_sequence());
    CHECK(numbers(0) == Numbers{1, -next, next});
}

TEST_CASE_METHOD(World, "files are bounded like the window") {
    options.max_events = 80;
    restart();
    publish(1000);
    CHECK(numbers(0).front() == -921);
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(options.directory))
        files += entry.path().extension() == ".events" ? 1 : 0;
    CHECK(files <= 9);
    restart();
    CHECK(numbers(0).front() == -921);
    CHECK(numbers(0).size() == 81);
}

TEST_CASE_METHOD(World, "the bytes of the window are bounded, but its newest event stays") {
    options.max_bytes = 1000;
    restart();
    bus->publish(EventType::lifecycle, Json(std::string(2000, 'x')));
    CHECK(numbers(0) == Numbers{1});
    publish(1);
    CHECK(numbers(0) == Numbers{-2, 2});
}

TEST_CASE("events go on while the disk is full, and are kept again once it is not") {
    on_small_disk(std::uint64_t{2} << 20U, [](const fs::path& disk) {
        World world;
        world.options.directory = disk / "events";
        world.restart();
        world.publish(1);
        {
            std::ofstream filler(disk / "filler");
            filler << std::string(std::size_t{4} << 20U, 'x');
        }
        world.publish(3000);
        CHECK(world.numbers(2999) == Numbers{3000, 3001});
        world.crash_in_place();
        const auto next = static_cast<std::int64_t>(world.bus->last_sequence()) + 1;
        CHECK(next > 3002);
        fs::remove(disk / "filler");
        world.publish(3000);
        world.restart();
        CHECK(static_cast<std::int64_t>(world.bus->last_sequence()) == next + 2999);
        CHECK(world.numbers(0).back() == next + 2999);
        CHECK(world.numbers(0).size() > 1000);
    });
}

}  // namespace svc::test

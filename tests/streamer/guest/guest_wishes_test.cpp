#include "instance-agent/streamer/guest/guest_wishes.h"

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::streamer;

namespace {

struct Guest {
    test::ManualClock clock;
    EventQueue queue{clock};
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-wishes-"};
    std::vector<std::string> told;
    CameraRelay camera{folder.path() / "api.unix", queue, [] { return nullptr; },
                       [](const std::string&, const Json&) {}};
    GuestWishes wishes{camera, [this](const std::string& type, const Json&) { told.push_back(type); }};
    ClientSettings settings;
};

}  // namespace

TEST_CASE("the client's microphone is on while the guest listens and there is a client that has one") {
    Guest guest;
    guest.settings.microphone = true;
    guest.wishes.client_ready(guest.settings);
    CHECK(guest.told.empty());  // nobody listens
    guest.wishes.microphone(true);
    guest.wishes.microphone(true);
    guest.wishes.microphone(false);
    CHECK(guest.told == std::vector<std::string>{"enable-microphone", "disable-microphone"});
    guest.wishes.client_gone();
    guest.wishes.microphone(true);
    CHECK(guest.told.size() == 2);
    guest.wishes.client_ready(guest.settings);
    CHECK(guest.told.back() == "enable-microphone");
}

TEST_CASE("a client without a microphone is not asked for one") {
    Guest guest;
    guest.wishes.client_ready(guest.settings);
    guest.wishes.microphone(true);
    guest.wishes.microphone(false);
    CHECK(guest.told.empty());
}

TEST_CASE("a client that loses control is told to close what it has opened, once") {
    Guest guest;
    const Json sensor = Json::object({{"type", "gyroscope"}, {"active", true}});
    guest.settings.microphone = true;
    guest.wishes.client_ready(guest.settings);
    guest.wishes.event("stream.sensor", JsonFields(sensor));
    guest.wishes.microphone(true);
    guest.told.clear();
    guest.wishes.control_lost();
    CHECK(guest.told == std::vector<std::string>{"deactivate-sensor", "disable-microphone"});
    guest.wishes.control_lost();
    CHECK(guest.told.size() == 2);
    guest.wishes.client_ready(guest.settings);  // the next one that steers
    CHECK(guest.told.size() == 4);
}

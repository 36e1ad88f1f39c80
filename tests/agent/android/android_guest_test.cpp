// What an Android guest is given before its init runs.
#include "instance-agent/agent/android/android_guest.h"

#include <sys/stat.h>

#include "tests/agent/phases/place.h"

using namespace svc;

namespace {

using Words = std::vector<std::string>;

// The guest has binder nodes already, as from devices of the host.
void give_binder(const test::Place& place) {
    place.write(place.paths.guest / "dev/binder", "");
}

std::string target_of(const std::filesystem::path& link) {
    return std::filesystem::read_symlink(link).native();
}

}  // namespace

TEST_CASE("Android's init is told the display of the user data, under the name of its hardware") {
    test::Place place;
    place.session.android = true;
    place.session.config.platform = "webrtc";
    place.write(place.paths.data / "userdata",
                R"({"display_width":800,"display_height":600,"fps":30,"display_density":120})");
    CHECK(agent::android_init(place.session, place.paths, {"/init", "androidboot.hardware=pocket"}) ==
          Words{"/init", "androidboot.hardware=pocket", "androidboot.pocket_width=800",
                "androidboot.pocket_height=600", "androidboot.pocket_dpi=120", "androidboot.pocket_fps=30",
                "androidboot.pocket_gpu_mode=guest"});
}

TEST_CASE("what an image says to its init is not said again") {
    test::Place place;
    place.session.name_servers = {"1.1.1.1", "9.9.9.9"};
    place.session.gpus = {0};
    const Words words = agent::android_init(
        place.session, place.paths, {"/init", "androidboot.svc_fps=15", "androidboot.svc_net_dns1=10.0.0.1"});
    CHECK(words == Words{"/init", "androidboot.svc_fps=15", "androidboot.svc_net_dns1=10.0.0.1",
                         "androidboot.hardware=svc", "androidboot.svc_width=1280",
                         "androidboot.svc_height=720", "androidboot.svc_dpi=160",
                         "androidboot.svc_gpu_mode=host", "androidboot.svc_net_ndns=2",
                         "androidboot.svc_net_dns2=9.9.9.9"});
}

TEST_CASE("what Android's init expects in /dev is made before it runs, and again at each start") {
    test::Place place;
    place.session.android = true;
    give_binder(place);
    for (int start = 0; start < 2; ++start) {
        CHECK_FALSE(place.prepare());
        CHECK(target_of(place.paths.guest / "dev/kmsg") == "console");
        for (const char* folder : {"input", "cpuset", "cpuctl", "blkio", "memcg"})
            CHECK(std::filesystem::is_directory(place.paths.guest / "dev" / folder));
    }
}

TEST_CASE("a guest without binder is not started, and the reason is told") {
    test::Place place;
    place.session.android = true;
    place.write(place.paths.guest / "dev/binderfs", "no folder, also where the kernel could mount it");
    const auto failure = place.prepare();
    REQUIRE(failure);
    CHECK_THAT(failure->error_message, Catch::Contains("binderfs"));
    CHECK_FALSE(place.has("guest/dev/binder"));
}

TEST_CASE("other guests get nothing of it") {
    test::Place place;
    CHECK_FALSE(place.prepare());
    CHECK_FALSE(place.has("guest/dev/kmsg"));
    CHECK(agent::readiness_of(place.session) == ReadinessCheck());
}

TEST_CASE("Android is up when it has completed its boot, or when its image's own check holds") {
    test::Place place;
    place.session.android = true;
    give_binder(place);
    const auto getprop = place.paths.guest / "system/bin/getprop";
    place.write(getprop, "#!/bin/sh\n[ \"$1\" = sys.boot_completed ] && echo 1\n", 0755);
    ReadinessCheck check = agent::readiness_of(place.session);
    CHECK(check.command == "test \"$(getprop sys.boot_completed)\" = 1");
    place.session.ready.command = "true";
    CHECK(agent::readiness_of(place.session).command == "true");
}

TEST_CASE("Android's log is a file beside the others, as long as the guest runs") {
    test::Place place;
    place.session.android = true;
    agent::keep_android_log(place.session, place.paths, place.clock, place.stop.get_token());
    CHECK_FALSE(std::filesystem::exists(place.paths.logs() / "android.log"));
    place.write(place.paths.guest / "system/bin/logcat", "#!/bin/sh\necho I/boot: \"$@\"\n", 0755);
    agent::keep_android_log(place.session, place.paths, place.clock, place.stop.get_token());
    CHECK_THAT(read_file(place.paths.logs() / "android.log"), Catch::Contains("I/boot: -v threadtime"));
}

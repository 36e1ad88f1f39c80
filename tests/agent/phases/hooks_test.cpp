#include "instance-agent/agent/phases/hooks.h"

#include <signal.h>

#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "tests/agent/phases/place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace std::chrono_literals;
using test::Place;

namespace {

std::string failure_of(Place& place, const PackageRef& package, const std::string& hook) {
    try {
        agent::run_hook(place.phase(), package, hook);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

pid_t pid_in(const Place& place, const std::string& file) {
    return static_cast<pid_t>(std::stol(place.read(file)));
}

// Killed processes are gone a moment later. `handle` keeps the number from being used again.
bool ends(pid_t pid) {
    const auto process = identify_process(pid);
    const auto handle = process ? open_process(*process) : FileDescriptor();
    return test::eventually([&] { return !identify_process(pid); });
}

}  // namespace

TEST_CASE("a hook runs in its package's directory with the environment of its kind") {
    Place place;
    place.session.app.boot_package = "com.example.app";
    place.session.app.boot_activity = "com.example.app.Main";
    place.session.network_proxy = "http://proxy:3128";
    place.session.features = {"enable_system_ui", "disable_wifi"};
    place.session.config.platform = "swrast";
    write_file_atomically(place.paths.data / "userdata", "801,600,30");
    const auto addon = place.add_package("ssh", {{"pre-start", "pwd > where; env | sort > environment"}});
    agent::run_hook(place.phase(), addon, "pre-start");

    const std::string data = place.paths.data;
    CHECK(place.read("data/addons/ssh/where") == data + "/addons/ssh\n");
    const std::string environment = "\n" + place.read("data/addons/ssh/environment");
    for (const std::string& line :
         {"ADDON_DIR=" + data + "/addons/ssh", "APP_DIR=" + data + "/app", "RUNTIME_DIR=" + data,
          "ANDROID_ROOTFS=" + place.paths.guest.string(), "GUEST_ROOTFS=" + place.paths.guest.string(),
          std::string("BOOT_PACKAGE=com.example.app"), std::string("BOOT_ACTIVITY=com.example.app.Main"),
          std::string("CONTAINER_TYPE=regular"), std::string("INSTANCE_TYPE=regular"),
          std::string("FEATURES=enable_system_ui,disable_wifi"), std::string("HOME=/root"),
          std::string("PLATFORM=swrast"), std::string("DISPLAY_WIDTH=802"), std::string("DISPLAY_HEIGHT=600"),
          std::string("DISPLAY_FPS=30"), std::string("DISPLAY_DENSITY=160"),
          std::string("http_proxy=http://proxy:3128"), std::string("https_proxy=http://proxy:3128")})
        CHECK_THAT(environment, Catch::Contains("\n" + line + "\n"));
    CHECK_THAT(environment, !Catch::Contains("RUNTIME_EXIT_CODE"));
    CHECK_THAT(environment, !Catch::Contains("secret-token"));
}

TEST_CASE("hooks of an application have no addon, and the launch's package wins") {
    Place place;
    place.session.instance_type = "base";
    place.session.app.boot_package = "com.example.app";
    place.session.config.boot_package = "com.example.other";
    const auto app = place.add_package("game", {{"install", "pwd; env > environment"}}, true);
    agent::run_hook(place.phase(), app, "install");
    const std::string environment = "\n" + place.read("data/app/environment");
    CHECK_THAT(environment, Catch::Contains("\nBOOT_PACKAGE=com.example.other\n"));
    CHECK_THAT(environment, Catch::Contains("\nINSTANCE_TYPE=base\n"));
    CHECK_THAT(environment, !Catch::Contains("ADDON_DIR"));
    CHECK_THAT(environment, !Catch::Contains("proxy"));
}

TEST_CASE("a failed hook is told with its status and the last line of its output") {
    Place place;
    const auto addon = place.add_package(
        "ssh", {{"fails", "echo one; printf 'no \\033route\\377 to host\\n\\n' >&2; exit 3"},
                {"dies", "kill -9 $$"}});
    CHECK(failure_of(place, addon, "fails") ==
          "hook fails of addon ssh failed: exit status 3: no  route? to host");
    CHECK(failure_of(place, addon, "dies") == "hook dies of addon ssh failed: killed by signal 9");
    CHECK_THAT(place.read("data/logs/hooks.log"), Catch::Contains("hook fails of addon ssh\none\n"));

    const auto app = place.add_package("game", {{"fails", "printf '%0300d' 7; exit 1"}}, true);
    CHECK(failure_of(place, app, "fails") ==
          "hook fails of application game failed: exit status 1: " + std::string(200, '0'));
}

TEST_CASE("a hook that is not there, not executable or no program fails") {
    Place place;
    const auto addon = place.add_package("ssh", {{"plain", "true"}});
    CHECK_THAT(failure_of(place, addon, "absent"), Catch::StartsWith("hook absent of addon ssh failed: "));
    place.write(place.paths.directory_of(addon) / "hooks/data", "no program", 0644);
    CHECK_THAT(failure_of(place, addon, "data"), Catch::Contains("ermission denied"));
    place.write(place.paths.directory_of(addon) / "hooks/noise", "no program", 0755);
    CHECK_THAT(failure_of(place, addon, "noise"), Catch::Contains("xec format error"));
    PackageRef climbing = addon;
    climbing.name = "..";
    CHECK_THAT(failure_of(place, climbing, "plain"), Catch::Contains("is invalid"));
}

TEST_CASE("a hook over its time is killed") {
    Place place;
    auto addon = place.add_package("slow", {{"hangs", "while :; do sleep 1000; done"}});
    addon.hook_timeout_seconds = 1;
    CHECK(failure_of(place, addon, "hangs") == "hook hangs of addon slow timed out after 1s");
}

TEST_CASE("a hook that is ended is killed with all that it started") {
    Place place;
    const auto addon =
        place.add_package("slow", {{"hangs",
                                    "trap '' TERM\n"
                                    "sleep 1000 & echo $! > group\n"
                                    "setsid sh -c 'trap \"\" TERM; echo $$ > away; sleep 1000' &\n"
                                    "while [ ! -s away ]; do :; done; echo > up\n"
                                    "while :; do sleep 1000; done"}});
    std::jthread end([&](const std::stop_token& given_up) {
        test::eventually("the hook and its children run",
                         [&] { return place.has("data/addons/slow/up") || given_up.stop_requested(); });
        place.stop.request_stop();
    });
    CHECK(failure_of(place, addon, "hangs") == "hook hangs of addon slow was interrupted");
    CHECK(ends(pid_in(place, "data/addons/slow/group")));
    CHECK(ends(pid_in(place, "data/addons/slow/away")));
}

TEST_CASE("a hook is cut off at the end of the phase and when the agent is told to stop") {
    Place place;
    const auto addon = place.add_package("slow", {{"hangs", "sleep 1000"}});
    agent::PhaseContext phase = place.phase();
    phase.deadline = place.clock.steady_now() + 10ms;
    CHECK_THROWS_WITH(agent::run_hook(phase, addon, "hangs"),
                      "hook hangs of addon slow did not end before the time of the instance was up");
    place.stop.request_stop();
    CHECK(failure_of(place, addon, "hangs") == "hook hangs of addon slow was interrupted");
}

TEST_CASE("a hook that floods its output ends, and the log stays small") {
    Place place;
    const auto addon =
        place.add_package("loud", {{"floods", "head -c 20000000 /dev/zero; echo; echo the end; exit 1"}});
    CHECK(failure_of(place, addon, "floods") == "hook floods of addon loud failed: exit status 1: the end");
    std::uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(place.paths.logs()))
        bytes += file.file_size();
    CHECK(bytes <= 2U << 20);
    CHECK_THAT(place.read("data/logs/hooks.log"), Catch::EndsWith("the end\n"));
}

TEST_CASE("a daemon of a hook lives on, may write, and does not hold up the hook") {
    Place place;
    const auto addon = place.add_package(
        "daemon", {{"starts",
                    "( echo $(exec sh -c 'echo $PPID') > pid; while [ ! -e go ]; do sleep 0.01; done\n"
                    "  head -c 300000 /dev/zero && echo written > done; exec sleep 1000 ) &\n"
                    "while [ ! -s pid ]; do sleep 0.01; done"}});
    CHECK(failure_of(place, addon, "starts").empty());
    const pid_t daemon = pid_in(place, "data/addons/daemon/pid");
    CHECK(identify_process(daemon));
    place.write(place.paths.directory_of(addon) / "go", "");
    test::eventually("the daemon has written",
                     [&] { return !place.read("data/addons/daemon/done").empty(); });
    CHECK(place.read("data/addons/daemon/done") == "written\n");
    ::kill(daemon, SIGKILL);
    CHECK(ends(daemon));
}

TEST_CASE("a hook may close its output and delete its own directory") {
    Place place;
    const auto addon =
        place.add_package("vandal", {{"first", "exec >&- 2>&-; rm -rf \"$ADDON_DIR\""}, {"second", "true"}});
    CHECK(failure_of(place, addon, "first").empty());
    CHECK_THAT(failure_of(place, addon, "second"), Catch::StartsWith("hook second of addon vandal failed: "));
}

TEST_CASE("which hooks run when, and in which order") {
    const std::vector<std::string> all{"install",   "prepare",    "restore",  "backup",
                                       "pre-start", "post-start", "post-stop"};
    Place place;
    for (const char* name : {"a", "b"}) {
        place.add_package(name, {});
        place.session.packages.back().hooks = all;
    }
    place.session.packages.back().is_application = true;
    const auto text = [](const std::vector<agent::HookCall>& calls) {
        std::string result;
        for (const auto& call : calls) result += call.hook + "(" + call.package.name + ") ";
        return result;
    };
    CHECK(text(agent::hooks_before_guest(place.session)) ==
          "restore(a) restore(b) pre-start(a) pre-start(b) ");
    CHECK(text(agent::hooks_with_guest(place.session)) == "post-start(a) post-start(b) ");
    CHECK(text(agent::hooks_after_guest(place.session)) == "backup(b) backup(a) post-stop(b) post-stop(a) ");
    place.session.instance_type = "base";
    CHECK(text(agent::hooks_before_guest(place.session)) ==
          "install(a) install(b) pre-start(a) pre-start(b) ");
    CHECK(text(agent::hooks_with_guest(place.session)) ==
          "prepare(a) prepare(b) post-start(a) post-start(b) ");
    CHECK(text(agent::hooks_after_guest(place.session)) == "post-stop(b) post-stop(a) ");
}

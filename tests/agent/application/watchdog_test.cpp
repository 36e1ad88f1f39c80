// A guest whose programs say what the test wants.
#include "instance-agent/agent/application/watchdog.h"

#include "tests/agent/phases/place.h"

using namespace svc;

namespace {

struct Guest : test::Place {
    Guest() {
        session.app.boot_package = "com.game";
        session.app.boot_activity = ".Main";
        says("am", "echo Status: ok; echo Complete");
        says("cmd", "echo priority=0; echo com.game/.Found");
        says("pm", "[ $2 = com.absent ] || echo package:/data/app/$2.apk");
        says("pidof",
             "cat " + file("processes").string() + " 2>/dev/null; [ ! -e " + file("ended").string() + " ]");
        show("com.game");
    }
    std::filesystem::path file(const std::string& name) const { return path() / name; }
    // A program of the guest, which also notes how it was called.
    void says(const std::string& name, const std::string& script) const {
        write(paths.guest / "system/bin" / name,
              "#!/bin/sh\necho " + name + " \"$@\" >> " + file("calls").string() + "\n" + script + "\n",
              0755);
    }
    void show(const std::string& package) const {
        says("dumpsys",
             "[ $2 = activities ] && echo 'topResumedActivity=ActivityRecord{1 u0 " + package + "/.A t1}'");
    }
    std::string call(const std::string& program) const {
        const std::string calls = "\n" + read("calls");
        const std::size_t at = calls.rfind("\n" + program + " ");
        return at == std::string::npos ? "" : calls.substr(at + 1, calls.find('\n', at + 1) - at - 1);
    }
    // What the watchdog reports within a minute of this clock; "": nothing.
    std::string fault() {
        struct Minute final : Clock {
            explicit Minute(std::stop_source& stop) : stop(stop) {}
            Time now() const override { return {}; }
            SteadyTime steady_now() const override { return SteadyTime(passed); }
            bool wait(std::stop_token token, Duration duration) override {
                passed += duration;
                if (passed > std::chrono::minutes(1)) stop.request_stop();
                return !token.stop_requested();
            }
            std::stop_source& stop;
            Duration passed{0};
        };
        std::stop_source end;
        Minute minute(end);
        const auto report = agent::watch_guest(session, paths, minute, end.get_token());
        if (report) CHECK(report->error_code == 4);
        return report ? report->error_message : "";
    }
};

}  // namespace

TEST_CASE("the application of a regular instance is started, by its activity or its icon") {
    Guest guest;
    CHECK(guest.complete().status == "running");
    CHECK(guest.call("am") == "am start -W -n com.game/.Main");
    guest.restart_instance();
    guest.session.app.boot_activity = "";
    CHECK(guest.complete().status == "running");
    CHECK(guest.call("am") == "am start -W -n com.game/.Found");
    guest.restart_instance();
    guest.session.config.boot_package = "com.other";
    guest.session.config.boot_activity = "com.other.Start";
    CHECK(guest.complete().status == "running");
    CHECK(guest.call("am") == "am start -W -n com.other/com.other.Start");
}

TEST_CASE("a bootstrap starts no application") {
    Guest guest;
    guest.session.instance_type = "base";
    CHECK(guest.complete().status == "running");
    CHECK(guest.call("am") == "");
    CHECK(guest.fault() == "");
}

TEST_CASE("an application that does not come up fails the instance, unless the watchdog is off") {
    Guest guest;
    guest.says("am", "echo Starting; echo 'Error: Activity class {com.game/.Main} does not exist.'");
    const InstanceReport report = guest.complete();
    CHECK(report.status == "error");
    CHECK(report.error_code == 4);
    CHECK(report.error_message ==
          "cannot start com.game/.Main: Error: Activity class {com.game/.Main} does not exist.");
    guest.restart_instance();
    const int way = GENERATE(0, 1, 2);
    guest.session.app.watchdog_disabled = way == 0;
    guest.session.config.disable_watchdog = way == 1;
    guest.session.config.devmode = way == 2;
    CHECK(guest.complete().status == "running");
}

TEST_CASE("a package without an icon, and one that is allowed and absent, are named") {
    Guest guest;
    guest.session.app.boot_activity = "";
    guest.says("cmd", "echo 'No activity found'");
    CHECK(guest.complete().error_message == "cannot start com.game: it has no activity to start");
    guest.restart_instance();
    guest.session.app.watchdog_allowed_packages = {"com.absent"};
    CHECK(guest.complete().error_message ==
          "package com.absent, which the watchdog allows, is not installed");
}

TEST_CASE("an application that runs on the screen is left alone") {
    Guest guest;
    CHECK(guest.fault() == "");
    guest.session.app.watchdog_allowed_packages = {"com.dialer"};
    guest.show("com.dialer");
    CHECK(guest.fault() == "");
    guest.session.app.watchdog_allowed_packages = {"*"};
    guest.show("com.any");
    CHECK(guest.fault() == "");
}

TEST_CASE("the watchdog finds an application that ended, hangs, or is hidden by another") {
    Guest guest;
    guest.show("com.any");
    CHECK(guest.fault() == "application com.any is in the foreground, which the watchdog does not allow");
    guest.says(
        "dumpsys",
        "echo '*APP* UID 10057 ProcessRecord{af 1234:com.game/u0a57}'; echo 'mNotResponding=true null'");
    CHECK(guest.fault() == "application com.game does not respond");
    guest.write(guest.file("ended"), "");
    CHECK(guest.fault() == "application com.game has ended");
    guest.session.config.disable_watchdog = true;
    CHECK(guest.fault() == "");
}

TEST_CASE("a fault that has passed at the second look is none") {
    Guest guest;
    const std::string seen = guest.file("seen").string();
    guest.says("dumpsys", "[ $2 = activities ] || exit 0; p=com.any; [ -e " + seen +
                              " ] && p=com.game; : > " + seen +
                              "; echo \"topResumedActivity=ActivityRecord{1 u0 $p/.A t1}\"");
    CHECK(guest.fault() == "");
}

TEST_CASE("two different faults in a row are one") {
    Guest guest;
    const std::string seen = guest.file("seen").string();
    guest.says("dumpsys", "[ $2 = activities ] || exit 0; p=com.first; [ -e " + seen +
                              " ] && p=com.second; : > " + seen +
                              "; echo \"topResumedActivity=ActivityRecord{1 u0 $p/.A t1}\"");
    CHECK(guest.fault() == "application com.second is in the foreground, which the watchdog does not allow");
}

TEST_CASE("a guest that is no Android is watched by the manifest's command alone") {
    test::Place place;
    place.session.app.boot_package = "com.game";
    CHECK(place.complete().status == "running");
    CHECK_FALSE(agent::watch_guest(place.session, place.paths, place.clock, {}));
    place.session.app.watchdog_command = "echo 'no process' >&2; exit 3";
    const auto report = agent::watch_guest(place.session, place.paths, place.clock, {});
    REQUIRE(report);
    CHECK(report->error_code == 4);
    CHECK(report->error_message ==
          "watchdog command 'echo 'no process' >&2; exit 3' exits with 3: 'no process'");
}

TEST_CASE("a watchdog command that succeeds, and one that is switched off, find nothing") {
    Guest guest;
    guest.session.app.boot_package = "";
    guest.session.app.watchdog_command = "echo all is well";
    CHECK(guest.fault() == "");
    guest.session.app.watchdog_command = "exit 1";
    CHECK(guest.fault() == "watchdog command 'exit 1' exits with 1");
    guest.session.config.devmode = true;
    CHECK(guest.fault() == "");
}

TEST_CASE("the boot command runs once after the hooks of a regular instance, with their variables") {
    test::Place place;
    place.add_package("ssh", {{"post-start", test::note_order(place, "hook")}});
    place.session.features = {"a", "b"};
    place.session.app.boot = "echo boot $FEATURES $INSTANCE_TYPE >> " + (place.path() / "order").string();
    CHECK(place.complete().status == "running");
    CHECK(place.complete().status == "running");  // a restarted agent
    CHECK(place.read("order") == "hook\nboot a,b regular\n");
    place.restart_instance();
    place.session.instance_type = "base";
    CHECK(place.complete().status == "running");
    CHECK(place.read("order") == "hook\nboot a,b regular\nhook\n");
}

TEST_CASE("a boot command that fails fails the instance") {
    test::Place place;
    place.session.app.boot = "echo no display; exit 7";
    const InstanceReport report = place.complete();
    CHECK(report.status == "error");
    CHECK(report.error_code == 1);
    CHECK(report.error_message == "boot command 'echo no display; exit 7' failed: exit status 7: no display");
}

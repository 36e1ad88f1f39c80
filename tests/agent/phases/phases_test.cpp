#include "instance-agent/agent/phases/phases.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "instance-agent/agent/phases/cleanup.h"
#include "instance-agent/agent/phases/updates.h"
#include "instance-agent/agent/processes/first_process.h"
#include "libsvc/base/error.h"
#include "tests/agent/phases/place.h"

using namespace svc;
using test::Place;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A program of the guest that writes down how it was called.
void add_guest_program(const Place& place, const std::string& name, const std::string& more = "") {
    place.write(
        place.paths.guest / "system/bin" / name,
        "#!/bin/sh\necho " + name + " \"$@\" >> " + (place.path() / "calls").string() + "\n" + more + "\n",
        0755);
}

unsigned mode_of(const std::filesystem::path& file) {
    struct stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    return info.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a guest without packages is running when it is ready, without notes") {
    Place place;
    const InstanceReport report = place.complete();
    CHECK(report.status == "running");
    CHECK(report.notes.empty());
}

TEST_CASE("a bootstrap installs the application, then runs the hooks with the guest") {
    Place place;
    place.session.instance_type = "base";
    place.session.app.boot_package = "com.example.app";
    place.session.app.required_permissions = {"android.permission.CAMERA", "android.permission.VIBRATE"};
    const std::string calls = (place.path() / "calls").string();
    place.add_package(
        "ssh", {{"post-start", "echo post-ssh >> " + calls}, {"prepare", "echo prepare-ssh >> " + calls}});
    place.add_package("game", {{"post-start", "echo post-game >> " + calls}}, true);
    place.write(place.paths.app() / "app.apk", "apk");
    add_guest_program(place, "pm");
    const InstanceReport report = place.complete();
    CHECK(report.error_message == "");
    CHECK(report.status == "running");
    CHECK(report.notes.empty());
    CHECK(place.read("calls") == "pm install -r " + place.paths.app().string() +
                                     "/app.apk\n"
                                     "pm grant com.example.app android.permission.CAMERA\n"
                                     "pm grant com.example.app android.permission.VIBRATE\n"
                                     "prepare-ssh\npost-ssh\npost-game\n");
}

TEST_CASE("all permissions are granted with the installation") {
    Place place;
    place.session.instance_type = "base";
    place.session.app.required_permissions = {"*"};
    place.write(place.paths.app() / "app.apk", "apk");
    add_guest_program(place, "pm");
    CHECK(place.complete().status == "running");
    CHECK(place.read("calls") == "pm install -r -g " + place.paths.app().string() + "/app.apk\n");
}

TEST_CASE("an application that cannot be installed is an error, also when the status says otherwise") {
    const std::string end = GENERATE("echo 'Failure [INSTALL_FAILED_INVALID_APK]'", "exit 1");
    Place place;
    place.session.instance_type = "base";
    place.write(place.paths.app() / "app.apk", "apk");
    add_guest_program(place, "pm", end);
    const InstanceReport report = place.complete();
    CHECK(report.status == "error");
    CHECK(report.error_code == 3);
    CHECK_THAT(report.error_message, Catch::StartsWith("cannot install app.apk: "));
}

TEST_CASE("a guest without package manager keeps the application, and a note says so") {
    Place place;
    place.session.instance_type = "base";
    place.write(place.paths.app() / "app.apk", "apk");
    const InstanceReport report = place.complete();
    CHECK(report.status == "running");
    CHECK(report.notes == std::vector<std::string>{
                              "app.apk was not installed: the guest has no package manager; it is left at " +
                              place.paths.app().string() + "/app.apk"});
}

TEST_CASE("extra data is placed with owner and permissions") {
    Place place;
    place.session.instance_type = "base";
    place.session.app.boot_package = "com.x";
    place.write(place.paths.guest / "etc/passwd", "root:x:0:0::/:\nmedia:x:12:34::/:\n");
    place.write(place.paths.guest / "etc/group", "sdcard_rw:x:1015:\nmedia:x:34:\n");
    place.write(place.paths.app() / "extra-data/main.obb", "obb");
    place.write(place.paths.app() / "extra-data/levels/one/map", "map");
    place.session.app.extra_data =
        Json::object({{"main.obb", Json::object({{"target", "/sdcard/Android/obb/com.x"}})},
                      {"levels", Json::object({{"target", "/data/data/com.x/files/"},
                                               {"owner", "media:media"},
                                               {"permissions", "0640"}})}});
    const InstanceReport report = place.complete();
    CHECK(report.error_message == "");
    CHECK(report.notes ==
          std::vector<std::string>{"extra data belongs to root: the guest has no user package_uid"});

    CHECK(place.read("guest/sdcard/Android/obb/com.x/main.obb") == "obb");
    const auto obb = place.paths.guest / "sdcard/Android/obb/com.x";
    CHECK(mode_of(obb) == 0771);
    CHECK(mode_of(obb / "main.obb") == 0660);
    const auto levels = place.paths.guest / "data/data/com.x/files/levels";
    CHECK(mode_of(levels / "one/map") == 0640);
    CHECK(mode_of(levels / "one") == 0750);
    struct stat info {};
    REQUIRE(::stat((levels / "one/map").c_str(), &info) == 0);
    CHECK(info.st_uid == 12);
    CHECK(info.st_gid == 34);
    REQUIRE(::stat((obb / "main.obb").c_str(), &info) == 0);
    CHECK(info.st_gid == 1015);
}

TEST_CASE("system data has closed directories by default, and its package's owner where that exists") {
    Place place;
    place.session.instance_type = "base";
    place.session.app.boot_package = "com.x";
    make_directories(place.paths.guest / "data/data/com.x", 0711);
    REQUIRE(::chown((place.paths.guest / "data/data/com.x").c_str(), 10001, 10002) == 0);
    place.write(place.paths.app() / "extra-data/lib", "elf");
    // As the service says it: what the manifest leaves open is empty.
    place.session.app.extra_data = Json::object(
        {{"lib", Json::object({{"target", "/data/app/com.x-1/lib"}, {"owner", ""}, {"permissions", ""}})}});
    const InstanceReport report = place.complete();
    CHECK(report.error_message == "");
    CHECK(report.notes.empty());
    CHECK(mode_of(place.paths.guest / "data/app/com.x-1") == 0700);
    CHECK(mode_of(place.paths.guest / "data/app/com.x-1/lib") == 0770);
    struct stat info {};
    REQUIRE(::stat((place.paths.guest / "data/app/com.x-1/lib/lib").c_str(), &info) == 0);
    CHECK(info.st_uid == 10001);
    CHECK(info.st_gid == 10002);
}

TEST_CASE("extra data that is absent or goes nowhere is an error") {
    const auto [name, target, error] = GENERATE(table<std::string, std::string, std::string>(
        {{"absent", "/data/data/com.x", "extra data 'absent': the package does not hold it"},
         {"file", "relative", "extra data 'file': target 'relative' is invalid"},
         {"..", "/data/data/com.x", "extra data '..': its name is invalid"}}));
    Place place;
    place.session.instance_type = "base";
    place.write(place.paths.app() / "extra-data/file", "");
    place.session.app.extra_data = Json::object({{name, Json::object({{"target", target}})}});
    const InstanceReport report = place.complete();
    CHECK(report.error_code == 3);
    CHECK(report.error_message == error);
}

TEST_CASE("an agent that was restarted repeats nothing, and reports the same") {
    Place place;
    place.session.instance_type = "base";
    place.add_package("ssh", {{"post-start", test::note_order(place, "post")}});
    place.write(place.paths.app() / "app.apk", "apk");
    const InstanceReport first = place.complete();
    const InstanceReport second = place.complete();
    CHECK(place.read("order") == "post\n");
    CHECK(second.to_json() == first.to_json());
    CHECK(second.notes.size() == 1);
    place.restart_instance();
    CHECK(place.complete().status == "running");
    CHECK(place.read("order") == "post\npost\n");
}

TEST_CASE("a hook that the agent died in counts as failed") {
    Place place;
    place.add_package("ssh", {{"post-start", test::note_order(place, "post") + "; exit 1"}});
    CHECK(place.complete().error_message == "hook post-start of addon ssh failed: exit status 1");
    const InstanceReport again = place.complete();
    CHECK(again.error_code == 2);
    CHECK(again.error_message == "hook post-start of addon ssh was interrupted");
    CHECK(place.read("order") == "post\n");
}

TEST_CASE("the time of an instance counts from the start of its first process") {
    Place place;
    place.add_package("ssh", {{"post-start", "true"}});
    place.session.ready.file = "/nonexistent/ready";
    place.write(place.paths.proc / "1/stat",
                "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 1 9 9\n");
    const InstanceReport report = place.complete();
    CHECK(report.error_code == 5);
    CHECK(report.error_message == "guest is not ready after 1m: file '/nonexistent/ready' does not exist");
    CHECK(place.clock.waits == 0);
}

TEST_CASE("the agent beside the guest waits while the first process is not the guest's") {
    Place place;
    place.add_package("ssh", {{"pre-start", "true"}});
    place.write(place.path() / "agent", "");
    place.write(place.path() / "init", "");
    make_directories(place.paths.proc / "self");
    std::filesystem::create_symlink(place.path() / "agent", place.paths.proc / "self/exe");
    std::filesystem::create_symlink(place.path() / "agent", place.paths.proc / "1/exe");
    CHECK(agent::is_first_process_ours(place.paths));
    std::jthread guest([&](const std::stop_token&) {
        std::filesystem::remove(place.paths.proc / "1/exe");
        std::filesystem::create_symlink(place.path() / "init", place.paths.proc / "1/exe");
    });
    CHECK(place.complete().status == "running");
    place.stop.request_stop();
    CHECK_FALSE(agent::complete_guest(place.session, place.paths, place.clock, place.stop.get_token()));
}

TEST_CASE(
    "after the guest hooks run in reverse with its exit code, all of them, and the first failure counts") {
    Place place;
    const std::string order = (place.path() / "order").string();
    place.add_package("a", {{"post-stop", "echo a $RUNTIME_EXIT_CODE >> " + order + "; exit 3"}});
    place.add_package(
        "b", {{"backup", "echo backup >> " + order + "; exit 4"}, {"post-stop", "echo b >> " + order}});
    const auto failure = place.follow(137);
    REQUIRE(failure);
    CHECK(failure->error_code == 2);
    CHECK(failure->error_message == "hook backup of addon b failed: exit status 4");
    CHECK(place.read("order") == "backup\nb\na 137\n");
    CHECK(place.has("data/addons/a/hooks"));
}

TEST_CASE("after a bootstrap only what is to be kept stays") {
    Place place;
    place.session.instance_type = "base";
    place.session.app.keep = {"*.txt", "apks/*.apk", "./scripts/", "deep/*/x?"};
    place.add_package("game", {{"post-stop", "echo log"}}, true);
    for (const char* file :
         {"manifest.yaml", "app.apk", "a.txt", "sub/b.txt", "apks/1.apk", "apks/more/2.apk", "apks/x",
          "scripts/run", "scripts/deep/er", "deep/1/x1", "deep/1/y", "deep/2/y", "extra-data/z"})
        place.write(place.paths.app() / file, "");
    place.write(place.path() / "outside/file", "");
    std::filesystem::create_directory_symlink(place.path() / "outside", place.paths.app() / "link");
    REQUIRE_FALSE(place.follow());

    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place.paths.app()))
        if (!entry.is_directory()) left.push_back(entry.path().lexically_relative(place.paths.app()));
    std::sort(left.begin(), left.end());
    CHECK(left == std::vector<std::string>{"a.txt", "apks/1.apk", "deep/1/x1", "hooks/post-stop",
                                           "manifest.yaml", "scripts/deep/er", "scripts/run"});
    CHECK_FALSE(place.has("data/app/sub"));
    CHECK(place.has("outside/file"));
    for (const char* own : {"data/logs", "data/progress.json", "data/downloads", "data/fetched"})
        CHECK_FALSE(place.has(own));
}

TEST_CASE("nothing is cleaned up when a hook failed") {
    Place place;
    place.session.instance_type = "base";
    place.add_package("game", {{"post-stop", "exit 1"}}, true);
    place.write(place.paths.app() / "app.apk", "");
    CHECK(place.follow());
    CHECK(place.has("data/app/app.apk"));
    CHECK(place.has("data/logs/hooks.log"));
}

TEST_CASE("security updates that cannot be had are a note of a bootstrap") {
    Place place;
    place.session.instance_type = "base";
    place.session.security_updates = true;
    CHECK_FALSE(place.prepare());
    CHECK(place.complete().notes ==
          std::vector<std::string>{
              "security updates were not installed: the guest has no known package manager"});

    place.restart_instance();
    add_guest_program(place, "apt-get", "case $* in *update*) echo 'no mirror'; exit 100;; esac");
    CHECK_FALSE(place.prepare());
    CHECK(place.complete().notes ==
          std::vector<std::string>{
              "security updates were not installed: apt-get update: exit status 100: no mirror"});
}

TEST_CASE("security updates come from the mirror and start no services") {
    Place place;
    place.session.instance_type = "base";
    place.session.security_updates = true;
    place.session.apt_mirror = "http://mirror/debian";
    make_directories(place.paths.guest / "usr/sbin");
    place.write(place.paths.guest / "etc/apt/sources.list",
                "deb http://deb.debian.org/debian bookworm main\n");
    add_guest_program(place, "apt-get",
                      "for word; do case $word in Dir::Etc::sourcelist=*) cat ${word#*=} >> " +
                          (place.path() / "calls").string() + ";; esac; done\n" + place.paths.guest.string() +
                          "/usr/sbin/policy-rc.d; echo policy $? >> " + (place.path() / "calls").string());
    CHECK_FALSE(place.prepare());
    CHECK(place.complete().notes.empty());
    const std::string calls = place.read("calls");
    CHECK_THAT(calls, Catch::Contains(" upgrade\ndeb http://mirror/debian bookworm main\npolicy 101\n"));
    CHECK_FALSE(place.has("guest/usr/sbin/policy-rc.d"));
    CHECK(place.read("guest/etc/apt/sources.list") == "deb http://deb.debian.org/debian bookworm main\n");
}

TEST_CASE("a mirror takes the place of every archive but the security one") {
    CHECK(agent::use_mirror("deb [signed-by=/k.gpg]  http://a/debian stable main\n# deb http://b\n"
                            "URIs: https://c/debian http://d/debian-security\nSuites: http://e\n",
                            "http://m/debian") ==
          "deb [signed-by=/k.gpg]  http://m/debian stable main\n# deb http://b\n"
          "URIs: http://m/debian http://d/debian-security\nSuites: http://e\n");
    CHECK(agent::use_mirror("", "http://m") == "");
}

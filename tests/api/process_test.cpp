// The real program: its flags, signals, exit statuses, and what a sudden death leaves.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "libsvc/base/strings.h"
#include "server/process/restart.h"
#include "server/process/signals.h"
#include "tests/support/api_caller.h"
#include "tests/support/daemon_process.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"

namespace svc::test {

namespace {

struct ProcessSetup {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-process-"};
    std::filesystem::path path = directory.path();
    Json launch_body = Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}});

    std::vector<std::string> flags(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{
            "--runtime",           "simulated", "--state-dir", path / "state",     "--socket",
            path / "svc.socket",   "--listen",  "none",        "--metrics-listen", "none",
            "--hypervisor-listen", "none"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

unsigned mode_of(const std::filesystem::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

// Waits for all operations, those of the service's own that are started meanwhile too.
bool all_end(ApiCaller& api) {
    return eventually([&] {
        const Json operations = api.get("/1.0/operations?recursion=1").metadata();
        if (!operations.find("running") && !operations.find("pending")) return true;
        for (const auto& [status, records] : operations.as_object())
            for (const Json& record : records.as_array())
                api.get("/1.0/operations/" + record.at("id").as_string() + "/wait?timeout=30");
        return false;
    });
}

// Every operation is final, and every object is in a state that nobody is working on.
void check_consistent(ApiCaller& api) {
    CHECK(all_end(api));
    const Json images = api.get("/1.0/images?recursion=1").metadata();
    for (const Json& image : images.as_array())
        CHECK((image.at("status") == Json("active") || image.at("status") == Json("error")));
    const Json instances = api.get("/1.0/containers?recursion=1").metadata();
    for (const Json& instance : instances.as_array())
        CHECK((instance.at("status") == Json("running") || instance.at("status") == Json("error")));
}

// In a program that has begun anew: ends it before it runs the tests once more.
constexpr const char* begun_anew = "SVC_TEST_BEGUN_ANEW";
constexpr int status_of_new = 8;
[[maybe_unused]] const bool ends_here =
    std::getenv(begun_anew) != nullptr && (std::_Exit(status_of_new), true);

// How a process ends that begins anew, after it was told to end or without that.
int end_of_restart(bool told_to_end) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::setenv(begun_anew, "1", 1);
        const process::Signals signals{SIGTERM};
        if (told_to_end) {
            ::kill(::getpid(), SIGTERM);
            signals.serve("test", {});
        }
        process::restart_self("the test says so");
        std::_Exit(9);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_CASE("a process that was told to end does not begin anew") {
    CHECK(end_of_restart(false) == status_of_new);
    CHECK(end_of_restart(true) == 0);
}

}  // namespace

TEST_CASE_METHOD(ProcessSetup, "the program checks its usage and configuration") {
    CHECK(run_svcd({"--version"}).output == "svcd " SVC_VERSION "\n");
    CHECK(run_svcd({"--version"}).status == 0);
    CHECK(run_svcd({"--help"}).status == 0);
    CHECK(run_svcd({"--no-such-flag"}).status == 2);
    CHECK(run_svcd({"--runtime", "magic"}).status == 2);
    CHECK(run_svcd(flags({"--check-config"})).status == 0);
    write_file_atomically(path / "bad.yaml", "\nworkers: x\n");
    const DaemonRun bad = run_svcd({"--config", path / "bad.yaml", "--check-config"});
    CHECK(bad.status == 2);
    CHECK(bad.output.find((path / "bad.yaml").string() + ":2: argument workers is invalid") !=
          std::string::npos);
    CHECK_FALSE(std::filesystem::exists(path / "state"));
}

TEST_CASE_METHOD(ProcessSetup, "a machine without disk limits is refused where they are required") {
    const DaemonRun run = run_svcd(flags({"--require-disk-limits", "yes"}));
    CHECK(run.status == 1);
    CHECK_THAT(run.output, Catch::Contains("require_disk_limits is set, and runtime simulated cannot limit "
                                           "the disks of instances on this machine"));
}

TEST_CASE_METHOD(ProcessSetup, "records are private and the sockets have their modes") {
    const DaemonProcess daemon(path);
    CHECK(daemon.ready_line() == "svcd: ready unix:" + (path / "svc.socket").string());
    CHECK(mode_of(path / "state") == 0711);
    CHECK(mode_of(path / "state/blobs") == 0700);
    CHECK(mode_of(path / "svc.socket") == 0660);
    CHECK(mode_of(path / "state/agent") == 0700);
    CHECK(mode_of(path / "state/agent/server.unix") == 0666);
    CHECK(mode_of(path / "state/svc.db") == 0600);
}

TEST_CASE_METHOD(ProcessSetup, "the instances' socket has a second name that nobody can guess") {
    const auto secret = [&] {
        std::string found;
        for (const auto& entry : std::filesystem::directory_iterator(path / "state"))
            if (entry.path().filename().native().starts_with("agent-"))
                found += entry.path().filename().native();
        return found;
    };
    std::filesystem::create_directories(path / "state/agent");
    struct stat before {};
    REQUIRE(::stat((path / "state/agent").c_str(), &before) == 0);
    std::string name;
    for (int start = 0; start < 2; ++start) {
        const DaemonProcess daemon(path);
        if (start == 0) name = secret();
        CHECK(name.size() == std::string_view("agent-").size() + 32);
        CHECK(secret() == name);
        CHECK(mode_of(path / "state" / name) == 0711);
        CHECK(read_file("/proc/net/unix").find(name) == std::string::npos);
        struct stat one {
        }, other{}, folder{};
        CHECK(::stat((path / "state/agent/server.unix").c_str(), &one) == 0);
        CHECK(::stat((path / "state" / name / "server.unix").c_str(), &other) == 0);
        CHECK(one.st_ino == other.st_ino);
        // What instances of an earlier version have mounted is the folder that has the socket now.
        CHECK(::stat((path / "state" / name).c_str(), &folder) == 0);
        CHECK(folder.st_ino == before.st_ino);
    }
}

TEST_CASE_METHOD(ProcessSetup, "a second daemon on the same state is refused") {
    const DaemonProcess daemon(path);
    const DaemonRun second = run_svcd(flags());
    CHECK(second.status == 1);
    CHECK(second.output.find("is in use by another svcd") != std::string::npos);
    CHECK(ApiCaller(daemon.target()).get("/1.0").status == 200);
}

TEST_CASE_METHOD(ProcessSetup, "sigterm ends with status zero and removes the socket") {
    DaemonProcess daemon(path);
    daemon.signal(SIGTERM);
    const auto status = daemon.wait();
    REQUIRE(status);
    CHECK(status->code == 0);
    CHECK_FALSE(std::filesystem::exists(path / "svc.socket"));
}

TEST_CASE_METHOD(ProcessSetup, "sighup reads the configuration again and serves on") {
    DaemonProcess daemon(path);
    write_file_atomically(path / "svcd.yaml", "log_level: nonsense\n");
    daemon.signal(SIGHUP);
    ApiCaller api(daemon.target());
    CHECK(api.get("/1.0").status == 200);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().value_or(ExitStatus{99, 0}).code == 0);
}

TEST_CASE_METHOD(ProcessSetup, "instances run on over an orderly restart") {
    std::string id;
    {
        DaemonProcess daemon(path);
        ApiCaller api(daemon.target());
        api.add_image("base", image_package());
        id = api.launch("base");
        daemon.signal(SIGTERM);
        REQUIRE(daemon.wait());
    }
    const DaemonProcess daemon(path);
    CHECK(ApiCaller(daemon.target()).get("/1.0/containers/" + id).metadata().at("status") == Json("running"));
}

TEST_CASE_METHOD(ProcessSetup, "a kill while instances start leaves consistent records") {
    const std::string url = [&] {
        DaemonProcess daemon(path, {"simulated_start_delay: 10m"});
        ApiCaller api(daemon.target());
        api.add_image("base", image_package());
        for (int i = 0; i < 5; ++i) CHECK(api.post("/1.0/containers", launch_body).status == 202);
        const std::string accepted = api.post("/1.0/containers", launch_body).operation();
        daemon.kill();
        return accepted;
    }();
    const DaemonProcess daemon(path);
    ApiCaller api(daemon.target());
    CHECK(api.get(url).status == 200);  // acknowledged, hence remembered
    check_consistent(api);
}

TEST_CASE_METHOD(ProcessSetup, "a kill while images are imported leaves consistent records") {
    const std::string package = image_package({.padding = 8U << 20U});
    std::vector<std::string> operations;
    {
        DaemonProcess daemon(path);
        ApiCaller api(daemon.target());
        for (int i = 0; i < 4; ++i)
            operations.push_back(api.upload(Method::post, "/1.0/images",
                                            "{\"name\":\"image" + std::to_string(i) + "\"}", package)
                                     .operation());
        daemon.kill();
    }
    const DaemonProcess daemon(path);
    ApiCaller api(daemon.target());
    for (const std::string& operation : operations) CHECK(api.get(operation).status == 200);
    check_consistent(api);
    CHECK(std::filesystem::is_empty(path / "state/blobs/incoming"));
}

TEST_CASE_METHOD(ProcessSetup, "a taken metrics port is a clear failure") {
    const DaemonProcess first(path, {"metrics_listen: 127.0.0.1:0"});
    const std::string& ready = first.ready_line();
    const std::string port = ready.substr(ready.rfind(':') + 1);
    std::filesystem::create_directories(path / "second");
    const DaemonRun second = run_svcd(
        {"--runtime", "simulated", "--state-dir", path / "second/state", "--socket", path / "second/socket",
         "--listen", "none", "--hypervisor-listen", "none", "--metrics-listen", "127.0.0.1:" + port});
    CHECK(second.status == 1);
    CHECK(second.output.find("metrics_listen") != std::string::npos);
    CHECK(second.output.find(port) != std::string::npos);
}

}  // namespace svc::test

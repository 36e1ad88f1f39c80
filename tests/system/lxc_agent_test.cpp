// The agent before, with and after a real guest, against a service that remembers what it was told. Skipped
// where there is no root.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "libsvc/base/digest.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/formats/pack.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/net/server/server.h"
#include "tests/support/skip.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

using Files = std::map<std::string, std::string>;

// Answers by path.
class AgentService : public HttpService {
  public:
    void add(const std::string& path, Handler handler) { handlers_[path] = std::move(handler); }
    RequestPlan plan(Request& request) override {
        RequestPlan plan;
        plan.max_body = 1U << 20;
        plan.handler = handlers_.at(request.path);
        return plan;
    }
    Response fault(const Request*, const std::exception& error) override {
        Response response;
        response.status = 500;
        response.body = error.what();
        return response;
    }
    void done(const Request&, int, std::uint64_t, std::uint64_t, std::chrono::nanoseconds) override {}

  private:
    std::map<std::string, Handler> handlers_;  // fixed once the server runs
};

class AgentWorld {
  public:
    AgentWorld() : pool_("agents", 2, 16), server_(service_, pool_, {}) {
        fixture.close();
        const auto sockets = fixture.directory() / "host";
        make_directories(sockets, 0755);
        fixture.options().agent = ::getenv("SVC_AGENT");
        fixture.options().agent_socket_dir = sockets;
        fixture.reopen();
        fixture.add_layer("base", patient_init);
        session.instance_id = "c1";
        session.token = "token";
        session.service_socket = "/var/lib/svc-agent/host/server.unix";
        session.boot_timeout_seconds = 60;
        service_.add("/1.0/containers/c1", [this](Request& request) {
            const std::lock_guard lock(mutex_);
            reports_.push_back(InstanceReport::from_json(Json::parse(request.body)));
            Response response;
            response.body = "{}";
            return response;
        });
    }
    ~AgentWorld() { fixture.runtime().remove("c1"); }
    AgentWorld(const AgentWorld&) = delete;
    AgentWorld& operator=(const AgentWorld&) = delete;

    // A package of these files; scripts are executable. Before start().
    void add_package(const std::string& name, const Files& files, bool application = false) {
        const TemporaryDirectory folder("/var/tmp", "svc-package-");
        PackageRef package;
        package.name = name;
        package.is_application = application;
        for (const auto& [file, text] : files) {
            make_directories((folder.path() / file).parent_path(), 0755);
            write_file_atomically(folder.path() / file, text, text.starts_with("#!") ? 0755 : 0644);
            if (file.starts_with("hooks/")) package.hooks.push_back(file.substr(6));
        }
        pack_directory(folder.path(), fixture.directory() / "artifact");
        const std::string bytes = read_file(fixture.directory() / "artifact");
        package.fingerprint = sha256_hex(bytes);
        package.size = bytes.size();
        package.fetch = true;
        service_.add("/1.0/artifacts/" + package.fingerprint, [bytes](Request&) {
            Response response;
            response.body = bytes;
            return response;
        });
        session.packages.push_back(package);
    }

    void start() {
        const auto socket = fixture.directory() / "host/server.unix";
        server_.listen_unix("agents", socket, 0666);
        server_.start();
        ContainerSpec spec = fixture.spec("c1");
        spec.boot_by_agent = true;
        spec.files = {{"/var/lib/svc-agent/session.json", session.to_json().dump(), 0600}};
        fixture.runtime().create(spec);
        fixture.runtime().start("c1");
    }

    InstanceReport next_report() {
        const auto first = [this]() -> std::optional<InstanceReport> {
            const std::lock_guard lock(mutex_);
            if (reports_.empty()) return std::nullopt;
            InstanceReport report = reports_.front();
            reports_.erase(reports_.begin());
            return report;
        };
        std::optional<InstanceReport> report;
        REQUIRE(eventually([&] { return (report = first()).has_value(); }));
        return *report;
    }

    std::string inside(const std::string& script) {
        return shell_inside(fixture.runtime(), "c1", script).output;
    }
    int after(int exit_code) {
        return fixture.runtime().run_once(
            "c1", {"/var/lib/svc-agent/bin/svc-agent", "--after", "--exit-code", std::to_string(exit_code)},
            60s, {});
    }

    LxcFixture fixture;
    AgentSession session;

  private:
    std::mutex mutex_;
    std::vector<InstanceReport> reports_;
    AgentService service_;
    ThreadPool pool_;
    HttpServer server_;
};

std::string note(const std::string& word) {
    return "#!/bin/sh\necho " + word + " >> /order\n";
}

}  // namespace

TEST_CASE("a bootstrap runs its hooks around the guest, installs, and leaves only what is to be kept") {
    AgentWorld world;
    world.session.instance_type = "base";
    world.session.security_updates = true;
    world.session.app.name = "game";
    world.session.app.boot_package = "com.example.game";
    world.session.app.keep = {"data"};
    world.session.app.extra_data =
        Json::object({{"main.obb", Json::object({{"target", "/sdcard/Android/obb/com.example.game"}})}});
    world.add_package("ssh", {{"hooks/install", note("install-ssh")},
                              {"hooks/pre-start", note("pre-ssh by $(cat /proc/1/comm)")},
                              {"hooks/post-start", note("post-ssh by $(cat /proc/1/comm)")},
                              {"hooks/post-stop", note("stop-ssh $RUNTIME_EXIT_CODE")}});
    world.add_package(
        "game",
        {{"manifest.yaml", "name: game\n"},
         {"app.apk", "apk"},
         {"data/level", "1"},
         {"data/l\xc3\xabvel \xe2\x82\xac", "2"},
         {"extra-data/main.obb", "obb"},
         {"hooks/prepare", note("prepare-game $(cat /sdcard/Android/obb/com.example.game/main.obb)")},
         {"hooks/post-stop", note("stop-game")}},
        true);
    world.start();
    const InstanceReport report = world.next_report();
    CHECK(report.error_message == "");
    CHECK(report.status == "running");
    CHECK(report.notes.size() == 4);
    CHECK(world.inside("cat /order") ==
          "install-ssh\npre-ssh by svc-agent\nprepare-game obb\npost-ssh by init\n");
    CHECK(world.inside("tr '\\0' ' ' < /proc/1/cmdline") == "/bin/sh /sbin/init ");
    CHECK(world.inside("grep SigBlk /proc/1/status | grep -v 0000000000000000") == "");
    CHECK(eventually([&] { return world.inside("ps -o stat,comm | grep -c '^Z'") == "0\n"; }));

    world.fixture.runtime().stop("c1", 10s);
    CHECK(world.after(0) == 0);
    const std::string upper =
        "cd " + world.fixture.container("c1").native() +
        " && d=$(dirname $(find . -name order | head -1)); cat $d/order; cd $d/var/lib/svc-agent;"
        " find app addons -type f | sort; ls";
    const std::string left = run_command({"/bin/sh", "-c", upper}, 20s).output;
    CHECK_THAT(left, Catch::Contains("post-ssh by init\nstop-game\nstop-ssh 0\n"));
    CHECK_THAT(left, Catch::Contains("addons/ssh/hooks/pre-start\napp/data/level\napp/data/l\xc3\xabvel "
                                     "\xe2\x82\xac\napp/hooks/post-stop\n"
                                     "app/hooks/prepare\napp/manifest.yaml\n"));
    for (const char* own : {"logs", "progress", "downloads", "fetched", "app.apk"})
        CHECK_THAT(left, !Catch::Contains(own));
}

TEST_CASE("a hook that fails before the guest is reported and ends the instance") {
    AgentWorld world;
    world.add_package("ssh", {{"hooks/pre-start",
                               "#!/bin/sh\nuntil [ -e /go ]; do sleep 0.1; done; echo no key; exit 9\n"}});
    world.start();
    world.inside("touch /go");
    const InstanceReport report = world.next_report();
    CHECK(report.error_code == 2);
    CHECK(report.error_message == "hook pre-start of addon ssh failed: exit status 9: no key");
    const RuntimeEvent event = world.fixture.events.wait();
    CHECK_FALSE(event.clean);
}

TEST_CASE("an instance that waits for a hook can be stopped at once") {
    AgentWorld world;
    world.add_package("ssh",
                      {{"hooks/pre-start", "#!/bin/sh\ntrap '' TERM; setsid sleep 61235 & sleep 61235\n"}});
    world.start();
    REQUIRE(eventually([&] { return world.inside("ps -o args").find("sleep 61235") != std::string::npos; }));
    const auto begin = std::chrono::steady_clock::now();
    world.fixture.runtime().stop("c1", 5min);
    CHECK(std::chrono::steady_clock::now() - begin < patience);
}

TEST_CASE("an agent that died beside its guest does not run hooks twice") {
    AgentWorld world;
    world.add_package("ssh", {{"hooks/post-start", note("post")}});
    world.start();
    REQUIRE(world.next_report().status == "running");
    world.inside("kill -9 $(ps -o pid,args | awk '$2 ~ /svc-agent$/ {print $1}')");
    CHECK(world.next_report().status == "running");
    CHECK(world.inside("cat /order") == "post\n");
}

int main(int argc, char** argv) {
    if (::geteuid() != 0 || ::access("/usr/sbin/nft", X_OK) != 0 || ::getenv("SVC_AGENT") == nullptr) {
        std::cout << "skipped: needs root, nftables and SVC_AGENT\n";
        return 77;
    }
    return run_tests(argc, argv);
}

// Containers whose records cannot be read, or that cannot be looked at, when a daemon takes over.
#include <fcntl.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

// As many files may be opened still, and no more.
class FewFiles {
  public:
    explicit FewFiles(rlim_t files) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const FileDescriptor next(::open("/", O_PATH | O_CLOEXEC));
        const rlimit few{static_cast<rlim_t>(next.get()) + files, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewFiles(const FewFiles&) = delete;
    FewFiles& operator=(const FewFiles&) = delete;

  private:
    rlimit before_{};
};

struct TwoContainers : LxcFixture {
    TwoContainers() {
        add_layer("base", patient_init);
        runtime().create(spec("down", 2));
        runtime().start("down");
        shell_inside(runtime(), "down", "echo precious > /data; sync");
        runtime().stop("down", 5s);
        runtime().create(spec("up", 3));
        runtime().start("up");
        shell_inside(runtime(), "up", "echo precious > /data; sync");
        init = runtime().inspect("up")->init_pid;
    }
    std::filesystem::path spec_of(const std::string& id) const { return container(id) / "spec.json"; }
    ContainerState state(const std::string& id) { return runtime().inspect(id)->state; }
    std::string data(const std::string& id) { return shell_inside(runtime(), id, "cat /data").output; }
    pid_t init = 0;
};

// Takes it away, and puts something odd in its place.
struct Damage {
    std::string name, reason;
    void (*make)(const std::filesystem::path& file, const std::string& content);
};
const std::vector<Damage> damages = {
    {"empty", "spec.json is empty",
     [](const auto& file, const auto&) { std::ofstream(file, std::ios::trunc); }},
    {"cut off", "spec.json: ",
     [](const auto& file, const auto& content) {
         std::ofstream(file) << content.substr(0, content.size() / 2);
     }},
    {"of a newer version", "it has schema 2",
     [](const auto& file, const auto& content) {
         Json json = Json::parse(content);
         json.set("schema", 2);
         std::ofstream(file) << json.dump();
     }},
    {"of another container", "is of container 'other'",
     [](const auto& file, const auto& content) {
         Json json = Json::parse(content);
         json.set("id", "other");
         std::ofstream(file) << json.dump();
     }},
    {"a directory", "is a directory",
     [](const auto& file, const auto&) { std::filesystem::create_directory(file); }},
    {"not to be opened", "symbolic links",
     [](const auto& file, const auto&) { std::filesystem::create_symlink(file, file); }},
};

}  // namespace

TEST_CASE_METHOD(TwoContainers, "a container whose specification cannot be read is left as it is") {
    const Damage damage = GENERATE(from_range(damages));
    INFO(damage.name);
    close();
    for (const char* id : {"down", "up"}) {
        std::filesystem::rename(spec_of(id), spec_of(id).native() + ".kept");
        damage.make(spec_of(id), read_file(spec_of(id).native() + ".kept"));
    }
    reopen();
    for (const char* id : {"down", "up"}) {
        CHECK(state(id) == ContainerState::unreadable);
        const std::string fault = runtime().inspect(id)->fault;
        CHECK(fault.find(damage.reason) != std::string::npos);
        const std::string refusal = "container '" + std::string(id) + "' cannot be read: " + fault;
        CHECK_THROWS_WITH(runtime().start(id), refusal);
        CHECK_THROWS_WITH(runtime().stop(id, 0s), refusal);
        // One that is lost is made anew by whoever knows what it said: see the next case.
        if (!runtime().inspect(id)->specification_lost)
            CHECK_THROWS_WITH(runtime().create(spec(id)), refusal);
        CHECK_THROWS_WITH(runtime().run_once(id, {"/bin/true"}, 5s, {}), refusal);
        CHECK_THROWS_WITH(run_inside(runtime(), id, {"true"}), refusal);
        CHECK_THROWS_WITH(runtime().layers().capture("made", id, {}), refusal);
        CHECK(read_file(container(id) / "upper/data") == "precious\n");
    }
    CHECK_THROWS_WITH(runtime().layers().remove("base"), "layer 'base' is in use by a container");
    CHECK(::kill(init, 0) == 0);

    SECTION("until it can be read, at the next start or before") {
        const bool restarted = GENERATE(true, false);
        if (restarted) close();
        for (const char* id : {"down", "up"}) {
            std::filesystem::remove(spec_of(id));
            std::filesystem::rename(spec_of(id).native() + ".kept", spec_of(id));
        }
        if (restarted) reopen();
        CHECK(eventually([&] { return state("up") == ContainerState::running; }));
        CHECK(eventually([&] { return state("down") == ContainerState::stopped; }));
        CHECK(runtime().inspect("up")->init_pid == init);
        CHECK(data("up") == "precious\n");
        runtime().start("down");
        CHECK(data("down") == "precious\n");
        ::kill(init, SIGKILL);
        CHECK(events.wait().id == "up");  // it is followed like any other
    }
    SECTION("or until it is removed") {
        for (const char* id : {"down", "up"}) runtime().remove(id);
        CHECK_FALSE(runtime().inspect("up"));
        CHECK(leftovers(*this, "up") == "");
        CHECK(leaves_no_zombies());
        CHECK(eventually([&] { return ::kill(init, 0) != 0; }));
        runtime().layers().remove("base");
    }
}

TEST_CASE_METHOD(TwoContainers, "a specification that is lost is made anew, and the container has its data") {
    close();
    for (const char* id : {"down", "up"}) std::ofstream(spec_of(id), std::ios::trunc);
    reopen();
    for (const ContainerSpec& lost : {spec("down", 2), spec("up", 3)}) {
        REQUIRE(runtime().inspect(lost.id)->specification_lost);
        runtime().recreate_spec(lost);
    }
    CHECK(runtime().inspect("up")->init_pid == init);
    runtime().start("down");
    for (const char* id : {"down", "up"}) CHECK(data(id) == "precious\n");
}

TEST_CASE_METHOD(TwoContainers, "a specification that goes while it cannot be read takes nothing along") {
    close();
    std::ofstream(spec_of("down"), std::ios::trunc);
    Guarded<std::string> said;
    log::set_listener([&](log::Level, std::string_view, const log::Fields& fields) {
        for (const auto& [name, value] : fields)
            if (name == "error") said.with([&, text = value](auto& all) { all += text + "\n"; });
    });
    reopen();
    std::filesystem::remove(spec_of("down"));
    CHECK(eventually([&] {
        return said.with(
            [](const auto& all) { return all.find("spec.json is missing") != std::string::npos; });
    }));
    log::set_listener({});
    CHECK(state("down") == ContainerState::unreadable);
    CHECK(read_file(container("down") / "upper/data") == "precious\n");
}

TEST_CASE_METHOD(TwoContainers,
                 "a running container that does not fit into the limit of open files lives on") {
    close();
    {
        const FewFiles few(45);
        reopen();
        CHECK(state("up") == ContainerState::unreadable);
        CHECK(state("down") == ContainerState::stopped);
        CHECK(runtime().inspect("up")->fault.find("too many open files") != std::string::npos);
        try {
            runtime().start("down");
            FAIL("it was started");
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::exhausted);
            CHECK(std::string(e.what()).find("too many open files") != std::string::npos);
        }
        CHECK(::kill(init, 0) == 0);
    }
    CHECK(eventually([&] { return state("up") == ContainerState::running; }));
    CHECK(runtime().inspect("up")->init_pid == init);
    runtime().start("down");
    CHECK(data("down") == "precious\n");
}

TEST_CASE_METHOD(TwoContainers, "a container is not ended because no file can be opened") {
    {
        const FewFiles none(0);
        CHECK_THROWS(runtime().start("up"));
        CHECK_THROWS(runtime().start("down"));
        CHECK_THROWS(run_inside(runtime(), "up", {"true"}));
    }
    CHECK(state("up") == ContainerState::running);
    CHECK(runtime().inspect("up")->init_pid == init);
    CHECK(data("up") == "precious\n");
    CHECK(events.empty());
}

TEST_CASE("the agent is tried again when even the helper cannot be started") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    const std::filesystem::path agent = fixture.directory() / "agent";
    std::ofstream(agent) << "#!/bin/sh\nexec sleep 5000\n";
    ::chmod(agent.c_str(), 0755);
    const std::filesystem::path helper = fixture.directory() / "helper";
    std::filesystem::copy_file(fixture.helper(), helper);
    fixture.options().agent = agent;
    fixture.helper() = helper;
    fixture.reopen();
    LxcRuntime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    runtime.start("c1");
    REQUIRE(runtime.inspect("c1")->agent_state == "running");
    const auto killed = shell_inside(runtime, "c1", "ps | awk '/[s]leep 5000/{print $1}'").output;
    Guarded<bool> refused{false};
    log::set_listener([&](log::Level, std::string_view message, const log::Fields&) {
        if (message == "agent cannot be started") refused.with([](bool& told) { told = true; });
    });
    // Killed from outside: commands inside need the helper, too.
    std::filesystem::rename(helper, helper.native() + ".gone");
    run_shell(
        "for p in $(cat /proc/" + std::to_string(runtime.inspect("c1")->init_pid) +
        "/task/*/children); do case \"$(tr '\\0' ' ' < /proc/$p/cmdline)\" in 'sleep 5000 ') kill -KILL $p;; "
        "esac; done");
    CHECK(eventually([&] { return refused.with([](const bool& told) { return told; }); }));
    log::set_listener({});
    CHECK(runtime.inspect("c1")->agent_state == "restarting");
    std::filesystem::rename(helper.native() + ".gone", helper);
    CHECK(eventually([&] { return runtime.inspect("c1")->agent_state == "running"; }));
    CHECK(shell_inside(runtime, "c1", "ps | awk '/[s]leep 5000/{print $1}'").output != killed);
}

// The requests that `svcctl instance` sends for its arguments.
#include "cli/actions/agent_ctl.h"

#include <catch2/catch.hpp>

#include "tests/cli/daemon_fixture.h"
#include "tests/cli/parse.h"

using namespace svc;
using namespace svc::cli;
using namespace svc::test;
using Catch::Matchers::Contains;

namespace {

using Words = std::vector<std::string>;

// Without the program and "ctl".
Words passed_on(const Words& words) {
    const auto invocation = parse(words);
    REQUIRE(invocation.command != nullptr);
    const Words all = ctl_command(*invocation.command, invocation.arguments);
    REQUIRE(all.size() > 2);
    CHECK(all[0] == "/var/lib/svc-agent/bin/svc-agent");
    CHECK(all[1] == "ctl");
    return {all.begin() + 2, all.end()};
}

struct InstanceControlFixture : DaemonFixture {
    InstanceControlFixture() {
        add_image("base");
        id = ask({"launch", "base"});
    }
    std::string write(const std::string& name, std::string_view text) const {
        const auto file = daemon.path() / name;
        write_file_atomically(file, text);
        return file.string();
    }
    std::string id;
};

}  // namespace

TEST_CASE("arguments reach the agent's client word by word") {
    CHECK(passed_on({"instance", "location", "enable", "i"}) == Words{"location", "enable"});
    CHECK(passed_on({"instance", "location", "set", "i", "-33.8", "151.2", "--altitude", "-4"}) ==
          Words{"location", "set", "--altitude=-4", "--", "-33.8", "151.2"});
    CHECK(passed_on({"instance", "sensors", "set", "i", "acceleration", "0", "-9.8", "1"}) ==
          Words{"sensors", "set", "--", "acceleration", "0", "-9.8", "1"});
    CHECK(passed_on({"instance", "vhal", "set", "i", "INFO_MAKE", "--area=HVAC_LEFT", "--", "--x; rm *"}) ==
          Words{"vhal", "set", "--area=HVAC_LEFT", "--", "INFO_MAKE", "--x; rm *"});
    CHECK(passed_on({"instance", "vhal", "configs", "i"}) == Words{"vhal", "configs"});
    CHECK(passed_on({"instance", "telephony", "sms", "i", "+1", "two words"}) ==
          Words{"telephony", "sms", "--", "+1", "two words"});
    CHECK(passed_on({"instance", "telephony", "set", "i", "sim", "ready", "signal", "5"}) ==
          Words{"telephony", "set", "--", "sim", "ready", "signal", "5"});
    CHECK(passed_on({"instance", "telephony", "change", "i", "1", "held"}) ==
          Words{"telephony", "change", "--", "1", "held"});
}

TEST_CASE("missing and surplus arguments are wrong usage") {
    for (const Words& words :
         {Words{"instance", "location", "set", "i", "1"}, Words{"instance", "camera", "enable"},
          Words{"instance", "trace", "start", "i", "x"},
          Words{"instance", "location", "replay", "i", "f", "--speed", "0"},
          Words{"instance", "location", "replay", "i", "f", "--speed", "fast"}})
        CHECK(run_cli(words).status == 2);
}

TEST_CASE_METHOD(InstanceControlFixture, "the program in the instance gives the exit status") {
    // Simulated instances have no agent.
    CHECK(run({"instance", "location", "enable", id}).status == 127);
    CHECK(run({"instance", "location", "enable", "absent"}).status == 125);
}

TEST_CASE_METHOD(InstanceControlFixture,
                 "files that are not there or not right are told before anything is sent") {
    const std::string absent = (daemon.path() / "absent.gpx").string();
    CHECK(run({"instance", "location", "replay", id, absent}).status == 1);
    CHECK(run({"instance", "camera", "image", id, absent}).status == 1);
    CHECK(run({"instance", "camera", "video", id, absent}).status == 1);
    const CliRun broken = run({"instance", "location", "replay", id, write("a.gpx", "<gpx><trk>")});
    CHECK(broken.status == 1);
    CHECK_THAT(broken.err, Contains("a.gpx: GPX: line 1"));
}

TEST_CASE_METHOD(InstanceControlFixture, "a trace that was not stopped leaves no file") {
    const auto file = daemon.path() / "trace";
    CHECK(run({"instance", "trace", "stop", id, "--output", file.string()}).status == 127);
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK_FALSE(std::filesystem::exists(file.string() + ".part"));
}

#include <catch2/catch.hpp>

#include "tests/cli/daemon_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct ExecFixture : DaemonFixture {
    ExecFixture() {
        add_image("base");
        id = ask({"launch", "base"});
    }
    std::string id;
};

}  // namespace

TEST_CASE_METHOD(ExecFixture, "exec passes streams through and the exit status on") {
    CHECK(ask({"exec", id, "--", "echo", "two", "words"}) == "two words");
    CHECK(run({"exec", id, "--", "cat"}, "line\n").out == "line\n");
    const CliRun failing = run({"exec", id, "false"});
    CHECK(failing.status == 1);
    CHECK(failing.err.empty());
}

TEST_CASE_METHOD(ExecFixture, "a large stream arrives whole") {
    const std::string input(3'000'000, 'x');
    const CliRun done = run({"exec", id, "--", "cat"}, input);
    CHECK(done.status == 0);
    CHECK(done.out.size() == input.size());
}

TEST_CASE_METHOD(ExecFixture, "what cannot be run is 127 or 125") {
    CHECK(run({"exec", id, "--", "no-such-program"}).status == 127);
    const CliRun unknown = run({"exec", "absent", "--", "true"});
    CHECK(unknown.status == 125);
    CHECK_THAT(unknown.err, Catch::StartsWith("Error: "));
}

#include <catch2/catch.hpp>

#include "cli/actions/port_forward.h"
#include "tests/cli/daemon_fixture.h"

using namespace svc;
using namespace svc::test;
using cli::parse_forward;

TEST_CASE("what a forward listens at, and where it leads") {
    const auto [text, listen, target] = GENERATE(table<const char*, const char*, const char*>({
        {"80", "127.0.0.1:80", "80"},
        {"8080:80", "127.0.0.1:8080", "80"},
        {":80", "127.0.0.1:0", "80"},
        {"0:80", "127.0.0.1:0", "80"},
        {"0.0.0.0:8080:80", "0.0.0.0:8080", "80"},
        {"[::1]:8080:80", "[::1]:8080", "80"},
        {"8080:unix:/run/x.sock", "127.0.0.1:8080", "unix:/run/x.sock"},
        {"unix:/tmp/x.sock:80", "unix:/tmp/x.sock", "80"},
        {"unix:/tmp/x.sock:unix:/run/x.sock", "unix:/tmp/x.sock", "unix:/run/x.sock"},
    }));
    const cli::PortForward forward = parse_forward(text);
    CHECK(forward.listen == listen);
    CHECK(forward.target == target);
}

TEST_CASE("what is no forward is a wrong command line") {
    const char* const text = GENERATE("", "web", "80:", "80:web", "unix::80", "unix:/tmp/x.sock");
    CHECK_THROWS_AS(parse_forward(text), cli::UsageError);
}

TEST_CASE_METHOD(DaemonFixture, "a forward into an instance that is not there fails at once") {
    const CliRun done = run({"forward", "absent", ":80"});
    CHECK(done.status == 1);
    CHECK_THAT(done.err, Catch::Contains("not found"));
}

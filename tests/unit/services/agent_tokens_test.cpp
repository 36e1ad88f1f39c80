#include "libsvc/services/trust/agent_tokens.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "tests/support/error_code.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::test;

namespace {

struct Fixture {
    TemporaryDirectory directory{std::filesystem::temp_directory_path()};
    std::filesystem::path secret = directory.path() / "secret";
    ManualClock clock;
    AgentTokens tokens{secret, clock};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a token names the instance it was issued for") {
    CHECK(tokens.check("Bearer " + tokens.issue("abc")) == "abc");
    CHECK(tokens.check("bearer " + tokens.issue("def")) == "def");
}

TEST_CASE_METHOD(Fixture, "tokens outlive a restart, their secret is for root alone") {
    const std::string token = tokens.issue("abc");
    CHECK(AgentTokens(secret, clock).check("Bearer " + token) == "abc");
    struct stat status {};
    REQUIRE(stat(secret.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE_METHOD(Fixture, "no token is unauthenticated, a wrong one is forbidden") {
    CHECK(code_of([&] { tokens.check(""); }) == ErrorCode::unauthenticated);
    CHECK(message_of([&] { tokens.check(""); }) == "missing token");
    std::string changed = tokens.issue("abc");
    changed.back() = changed.back() == 'A' ? 'B' : 'A';
    changed[changed.size() / 2] = changed[changed.size() / 2] == 'x' ? 'y' : 'x';
    CHECK(code_of([&] { tokens.check("Bearer " + changed); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { tokens.check("Basic " + tokens.issue("abc")); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { tokens.check("Bearer x"); }) == ErrorCode::forbidden);
}

TEST_CASE_METHOD(Fixture, "a token of another secret or without a signature is forbidden") {
    const AgentTokens others(directory.path() / "other", clock);
    CHECK(code_of([&] { tokens.check("Bearer " + others.issue("abc")); }) == ErrorCode::forbidden);
    // {"alg":"none","typ":"JWT"} . {"sub":"abc","scope":["status"],"exp":9999999999} . nothing
    const std::string unsigned_token =
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0."
        "eyJzdWIiOiJhYmMiLCJzY29wZSI6WyJzdGF0dXMiXSwiZXhwIjo5OTk5OTk5OTk5fQ.";
    CHECK(code_of([&] { tokens.check("Bearer " + unsigned_token); }) == ErrorCode::forbidden);
}

TEST_CASE_METHOD(Fixture, "a token ends after a year") {
    const std::string token = tokens.issue("abc");
    clock.advance(std::chrono::hours(24 * 365) - std::chrono::seconds(2));
    CHECK(tokens.check("Bearer " + token) == "abc");
    clock.advance(std::chrono::seconds(3));
    CHECK(code_of([&] { tokens.check("Bearer " + token); }) == ErrorCode::forbidden);
}

#include "libsvc/operations/claims.h"

#include <catch2/catch.hpp>

#include "tests/support/error_code.h"

namespace svc {
namespace {

using IfHeld = Claims::IfHeld;
using Ids = std::vector<std::string>;

struct ClaimsFixture {
    Claims claims;
    Ids enter(const std::string& id, Ids wanted, IfHeld if_held = IfHeld::queue) {
        return claims.enter(id, "work of " + id, std::move(wanted), if_held);
    }
};

TEST_CASE_METHOD(ClaimsFixture, "a claimant without claims may start at once") {
    enter("a", {});
    CHECK(claims.ready("a"));
    CHECK(claims.leave("a").empty());
}

TEST_CASE_METHOD(ClaimsFixture,
                 "a held claim is refused by the name of the holder's work, and nothing is taken") {
    enter("a", {"x"});
    CHECK(test::message_of([&] {
              enter("b", {"w", "x"}, IfHeld::refuse);
          }) == "work of a already in progress");
    CHECK(test::code_of([&] { enter("b", {"x"}, IfHeld::refuse); }) == ErrorCode::busy);
    CHECK_FALSE(claims.held("w"));
    claims.leave("a");
    CHECK_FALSE(claims.held("x"));
    CHECK(enter("b", {"x"}, IfHeld::refuse).empty());
}

TEST_CASE_METHOD(ClaimsFixture, "who waits is named, in the order of arrival, when the claim gets free") {
    CHECK(enter("a", {"x"}).empty());
    CHECK(enter("b", {"x"}) == Ids{"a"});
    CHECK(enter("c", {"x"}) == Ids{"a", "b"});
    CHECK(claims.ready("a"));
    CHECK_FALSE(claims.ready("c"));
    CHECK_FALSE(claims.ready("b"));
    CHECK(claims.leave("a") == Ids{"b"});
    CHECK(claims.leave("b") == Ids{"c"});
}

TEST_CASE_METHOD(ClaimsFixture, "who is not ready yet when the claim gets free starts by itself") {
    enter("a", {"x"});
    enter("b", {"x"});
    CHECK(claims.leave("a").empty());
    CHECK(claims.ready("b"));
}

TEST_CASE_METHOD(ClaimsFixture, "all claims must be free, and a claimant is named once") {
    enter("a", {"x"});
    enter("b", {"y"});
    enter("c", {"x", "y", "x"});
    claims.ready("c");
    CHECK(claims.leave("a").empty());
    CHECK(claims.leave("b") == Ids{"c"});
    CHECK(claims.leave("c").empty());
}

TEST_CASE_METHOD(ClaimsFixture, "who waits may leave from the middle of the queue") {
    enter("a", {"x"});
    enter("b", {"x"});
    enter("c", {"x"});
    claims.ready("a");
    claims.ready("c");
    CHECK(claims.leave("b").empty());
    CHECK(claims.leave("a") == Ids{"c"});
}

TEST_CASE_METHOD(ClaimsFixture, "who waits for a claimant is told of each, once") {
    enter("a", {"x", "y"});
    enter("b", {"x", "y"});
    enter("c", {"y"});
    enter("d", {"z"});
    CHECK(claims.behind("a") == Ids{"b", "c"});
    CHECK(claims.behind("b") == Ids{"c"});
    CHECK(claims.behind("c").empty());
    CHECK(claims.behind("unknown").empty());
    claims.leave("b");
    CHECK(claims.behind("a") == Ids{"c"});
}

TEST_CASE_METHOD(ClaimsFixture,
                 "one claimant may queue behind who is ending, and starts when that has left") {
    enter("a", {"x"});
    claims.end("a");
    CHECK(enter("b", {"x"}, IfHeld::refuse) == Ids{"a"});
    CHECK_FALSE(claims.ready("b"));
    CHECK(test::message_of([&] { enter("c", {"x"}, IfHeld::refuse); }) == "work of b already in progress");
    CHECK(claims.leave("a") == Ids{"b"});
    CHECK_NOTHROW(claims.end("nobody"));
}

TEST_CASE_METHOD(ClaimsFixture, "leaving twice and leaving unknown is harmless") {
    enter("a", {"x"});
    claims.leave("a");
    CHECK(claims.leave("a").empty());
    CHECK(claims.leave("nobody").empty());
}

}  // namespace
}  // namespace svc

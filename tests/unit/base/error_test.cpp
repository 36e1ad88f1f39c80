#include "libsvc/base/error.h"

#include <catch2/catch.hpp>
#include <cerrno>

using Catch::Matchers::Message;

TEST_CASE("a full disk is told apart from other system errors") {
    CHECK(svc::system_error("cannot write", ENOSPC).code() == svc::ErrorCode::exhausted);
    CHECK(svc::system_error("cannot open", EMFILE).code() == svc::ErrorCode::exhausted);
    CHECK(svc::system_error("cannot write", EIO).code() == svc::ErrorCode::internal);
    CHECK(std::string(svc::system_error("cannot write", ENOSPC).what()) ==
          "cannot write: no space left on device");
}

TEST_CASE("context goes in front and the code stays") {
    const auto fail = [] { throw svc::Error(svc::ErrorCode::busy, "it is in use"); };
    CHECK_THROWS_MATCHES(svc::with_context("disk", fail), svc::Error, Message("disk: it is in use"));
    CHECK(svc::with_context("disk", [] { return 3; }) == 3);
}

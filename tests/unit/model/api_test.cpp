#include "libsvc/model/values/api.h"

#include <catch2/catch.hpp>

#include "tests/support/golden.h"

namespace svc {
namespace {

using Code = ErrorCode;

TEST_CASE("every error code has one of the specification's statuses") {
    const auto [code, status] = GENERATE(table<Code, int>({{Code::invalid_argument, 400},
                                                           {Code::unauthenticated, 401},
                                                           {Code::forbidden, 403},
                                                           {Code::not_found, 404},
                                                           {Code::conflict, 409},
                                                           {Code::busy, 409},
                                                           {Code::precondition_failed, 412},
                                                           {Code::exhausted, 500},
                                                           {Code::unavailable, 500},
                                                           {Code::unsupported, 400},
                                                           {Code::cancelled, 400},
                                                           {Code::internal, 500}}));
    CHECK(http_status(code) == status);
}

TEST_CASE("envelopes") {
    CHECK(
        sync_body(Json()) ==
        R"({"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"","metadata":null})");
    CHECK(
        async_body("u-1", Json::object({{"id", "u-1"}})) ==
        R"({"type":"async","status":"Operation created","status_code":100,"operation":"1.0/operations/u-1","error_code":0,"error":"","metadata":{"id":"u-1"}})");
    CHECK(error_body(404, "image not found") ==
          R"({"type":"error","error":"image not found","error_code":404,"metadata":{}})");
    CHECK(Json::parse(error_body(500, "")).at("error").as_string() == "Failure");
}

TEST_CASE("extensions") {
    test::check_golden("unit/model/golden/api_extensions.json",
                       JsonArray(api_extensions().begin(), api_extensions().end()));
}

}  // namespace
}  // namespace svc

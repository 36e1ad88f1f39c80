#include "libsvc/client/api_client.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/unit/client/fake_service.h"

using namespace svc;
using namespace svc::test;

namespace {

ErrorCode code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& e) {
        return e.code();
    }
    FAIL("nothing was thrown");
    return ErrorCode::internal;
}

}  // namespace

TEST_CASE("records come out of their envelope") {
    FakeService service;
    service.on("/1.0/images", [](const Request&) { return Json::array({Json::object({{"name", "one"}})}); });
    service.on("/1.0/tasks", [](const Request&) { return Json(); });
    service.start();
    ApiClient client(service.target());
    REQUIRE(client.images().size() == 1);
    CHECK(client.images()[0].at("name").as_string() == "one");
    CHECK(service.last_request().query_value("recursion") == "1");
    CHECK(client.tasks().empty());
}

TEST_CASE("a refusal keeps the service's text and is never 'unavailable'") {
    FakeService service;
    service.refuse("/1.0/images/x", 404, "image not found");
    service.refuse("/1.0/images/y", 503, "shutting down");
    service.start();
    ApiClient client(service.target());
    CHECK_THROWS_WITH(client.image("x"), "image not found");
    CHECK(code_of([&] { client.image("x"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { client.image("y"); }) == ErrorCode::internal);
    CHECK_THROWS_WITH(client.image("z"), Catch::Contains("404"));  // no JSON at all
}

TEST_CASE("a service that is not there is 'unavailable'") {
    Target target;
    target.unix_path = "/nonexistent/socket";
    ApiClient client(target);
    CHECK(code_of([&] { client.server(); }) == ErrorCode::unavailable);
}

TEST_CASE("an upload carries name, default and fingerprint before its bytes") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "client-test-");
    write_file_atomically(directory.path() / "package", "the bytes");
    FakeService service;
    service.on("/1.0/images", [](const Request&) { return operation_record(103); });
    service.start();
    ImageRequest request;
    request.name = "n";
    request.is_default = true;
    const Json operation =
        ApiClient(service.target()).create_image(request, Package(directory.path() / "package"));
    CHECK(operation.at("id").as_string() == operation_id);
    const Request sent = service.last_request();
    CHECK(sent.method == Method::post);
    CHECK(sent.headers.get("Content-Type") == "application/octet-stream");
    CHECK(Json::parse(sent.headers.get("X-SVC-Request")) == Json::parse(R"({"name":"n","default":true})"));
    CHECK(sent.headers.get("X-SVC-Fingerprint") == sha256_hex("the bytes"));
    CHECK(sent.body == "the bytes");
}

TEST_CASE("ids are encoded into the path") {
    FakeService service;
    service.on("/1.0/images/a b/c", [](const Request&) { return Json::object(); });
    service.start();
    ApiClient(service.target()).image("a b/c");
    CHECK(service.last_request().target == "/1.0/images/a%20b%2Fc");
    CHECK_THROWS_AS(ApiClient(service.target()).image(""), Error);
}

TEST_CASE("operations of all states come as one list") {
    FakeService service;
    service.on("/1.0/operations", [](const Request&) {
        return Json::object({{"running", Json::array({operation_record(103)})},
                             {"success", Json::array({operation_record(200), operation_record(200)})}});
    });
    service.start();
    CHECK(ApiClient(service.target()).operations().size() == 3);
}

TEST_CASE("the object of an operation is found whatever the path was called") {
    Json record = operation_record(200);
    record.set("resources", Json::parse(R"({"instances":["/1.0/instances/abc"]})"));
    CHECK(resource_id(record, {"containers", "instances"}) == "abc");
    CHECK(resource_id(record, {"images"}).empty());
    CHECK(resource_id(Json::parse(R"({"resources":null})"), {"images"}).empty());
}

TEST_CASE("only a success passes") {
    CHECK_NOTHROW(require_success(operation_record(200)));
    CHECK_THROWS_WITH(require_success(operation_record(400, "disk full")), "disk full");
    CHECK(code_of([] { require_success(operation_record(401, "Operation cancelled")); }) ==
          ErrorCode::cancelled);
}

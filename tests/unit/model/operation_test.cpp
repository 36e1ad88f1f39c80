#include "libsvc/model/cluster/operation.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

Operation sample_operation() {
    Operation operation;
    operation.id = OperationId("00000000-0000-4000-8000-000000000001");
    operation.cls = OperationClass::websocket;
    operation.kind = "instance.exec";
    operation.description = "Executing command";
    operation.created_at = from_rfc3339("2024-01-02T03:04:05.678901234Z");
    operation.updated_at = from_rfc3339("2024-01-02T03:04:06Z");
    operation.status = OperationStatus::failure;
    operation.resources = {{"containers", {"/1.0/containers/a"}}};
    operation.metadata = Json::object({{"command", Json::array({"sh"})}});
    operation.may_cancel = true;
    operation.err = "container is gone";
    operation.requestor = "uid=0";
    operation.arguments = Json::object({{"id", "a"}});
    operation.claims = {"instances/a"};
    return operation;
}

TEST_CASE("the record of an operation") {
    test::check_golden("unit/model/golden/operation.json", to_json(sample_operation()));
    CHECK(to_json(Operation()).at("resources").is_null());
    CHECK(to_json(Operation()).at("metadata").is_null());
}

TEST_CASE("secrets are taken out of metadata of any form") {
    const Json kept = Json::object({{"command", "sh"}});
    Json all = kept;
    all.set("fds", Json::object({{"0", "s3cret"}}));
    CHECK(without_secrets(all) == kept);
    CHECK(without_secrets(kept) == kept);
    CHECK(without_secrets(Json()).is_null());
}

TEST_CASE("an operation is stored whole, read back and checked") {
    test::check_record_codec<Operation>({"operation_stored.json",
                                         sample_operation(),
                                         operation_to_store,
                                         operation_from_store,
                                         {"id", "class", "kind", "created_at", "updated_at", "status_code"},
                                         {"metadata", "arguments"}});
    Json stored = operation_to_store(sample_operation());
    CHECK(to_json(operation_from_store(stored)) == to_json(sample_operation()));
    stored.set("status_code", 100);
    test::check_codec(operation_from_store, {{stored, test::is_refused}});
}

TEST_CASE("every status code of the specification has its text") {
    const auto [code, text] = GENERATE(table<int, const char*>({{100, "Operation created"},
                                                                {101, "Started"},
                                                                {102, "Stopped"},
                                                                {103, "Running"},
                                                                {104, "Cancelling"},
                                                                {105, "Pending"},
                                                                {106, "Starting"},
                                                                {107, "Stopping"},
                                                                {108, "Aborting"},
                                                                {109, "Freezing"},
                                                                {110, "Frozen"},
                                                                {111, "Thawed"},
                                                                {112, "Error"},
                                                                {200, "Success"},
                                                                {400, "Failure"},
                                                                {401, "Cancelled"},
                                                                {999, "unknown"}}));
    CHECK(status_text(code) == text);
}

TEST_CASE("every status of an operation is stored and read, and knows whether it is final") {
    const auto [status, final] = GENERATE(table<OperationStatus, bool>({{OperationStatus::running, false},
                                                                        {OperationStatus::cancelling, false},
                                                                        {OperationStatus::pending, false},
                                                                        {OperationStatus::success, true},
                                                                        {OperationStatus::failure, true},
                                                                        {OperationStatus::cancelled, true}}));
    CHECK(is_final(status) == final);
    CHECK(to_text(status) == status_text(static_cast<int>(status)));
    Operation operation = sample_operation();
    operation.status = status;
    CHECK(operation_from_store(operation_to_store(operation)).status == status);
}

TEST_CASE("every class of operations is stored and read") {
    for (const auto cls : {OperationClass::task, OperationClass::websocket, OperationClass::token}) {
        Operation operation = sample_operation();
        operation.cls = cls;
        CHECK(operation_from_store(operation_to_store(operation)).cls == cls);
    }
    CHECK(to_text(OperationClass::task) == "task");
    CHECK(to_text(OperationClass::websocket) == "websocket");
    CHECK(to_text(OperationClass::token) == "token");
}

TEST_CASE("the URL of an operation has no leading slash") {
    CHECK(operation_url(sample_operation().id) == "1.0/operations/00000000-0000-4000-8000-000000000001");
}

}  // namespace
}  // namespace svc

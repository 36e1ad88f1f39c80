#include "libsvc/services/configuration/config_service.h"

#include <array>

#include "tests/unit/services/package_fixture.h"
#include "tests/unit/services/rivals.h"

using namespace svc;
using namespace svc::test;

TEST_CASE_METHOD(PackageFixture, "a changed key takes effect, is told of and outlives the daemon") {
    std::vector<std::string> told;
    config().on_change("gpu.type", [&] { told.push_back(config().text("gpu.type")); });
    config().on_change("scheduler.strategy", [&] { told.push_back("other"); });
    const auto done = wait(config().patch({"gpu.type", "amd"}, "uid=0"));
    CHECK(done->status == OperationStatus::success);
    CHECK(done->description == "Applying configuration");
    CHECK(done->resources.empty());
    CHECK(done->requestor == "uid=0");
    CHECK(told == std::vector<std::string>{"amd"});
    restart();
    CHECK(config().text("gpu.type") == "amd");
    configure("gpu.type", "intel");
    CHECK(config().text("gpu.type") == "intel");
}

TEST_CASE_METHOD(PackageFixture, "an empty value brings the default back") {
    configure("application.auto_publish", "false");
    CHECK_FALSE(config().boolean("application.auto_publish"));
    configure("application.auto_publish", "");
    CHECK(config().boolean("application.auto_publish"));
    CHECK(life->config_records.list().empty());
    configure("application.auto_publish", "");
}

TEST_CASE_METHOD(PackageFixture, "bad changes are refused at once") {
    CHECK(code_of([&] { config().patch({"colour", "red"}, "test"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { config().patch({"gpu.type", "mali"}, "test"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { config().patch({"application.addons", "ssh"}, "test"); }) == ErrorCode::not_found);
    CHECK(message_of([&] { config().patch({"application.addons", "ssh"}, "test"); }) == "addon not found");
    CHECK(engine().list().empty());
}

TEST_CASE_METHOD(PackageFixture, "changes of one key are made in the order they came in") {
    Started last;
    for (const char* value : {"nvidia", "amd", "intel"}) last = config().patch({"gpu.type", value}, "test");
    CHECK(wait(last)->err.empty());
    CHECK(config().text("gpu.type") == "intel");
}

TEST_CASE_METHOD(PackageFixture, "a listener that fails leaves the change and the other listeners alone") {
    bool told = false;
    config().on_change("gpu.type", [] { throw Error(ErrorCode::internal, "out of order"); });
    config().on_change("gpu.type", [&] { told = true; });
    configure("gpu.type", "amd");
    CHECK(told);
}

TEST_CASE_METHOD(PackageFixture, "the trust password is stored nowhere, only its hash") {
    CHECK_FALSE(config().check_trust_password(""));
    CHECK_FALSE(config().check_trust_password("s3cret"));
    const auto started = config().patch({"core.trust_password", "s3cret"}, "test");
    wait(started);
    CHECK(config().check_trust_password("s3cret"));
    CHECK_FALSE(config().check_trust_password("S3cret"));
    CHECK_FALSE(config().check_trust_password(""));
    for (const Entry& entry : sqlite.list("")) CHECK(entry.value.find("s3cret") == std::string::npos);
    CHECK(config().values().to_json().at("core.trust_password") == Json(true));
    configure("core.trust_password", "");
    CHECK_FALSE(config().check_trust_password("s3cret"));
}

TEST_CASE_METHOD(PackageFixture, "the entity tag of the configuration follows its values") {
    const std::string before = config().etag();
    configure("gpu.type", "amd");
    CHECK(config().etag() != before);
    configure("gpu.type", "");
    CHECK(config().etag() == before);
}

TEST_CASE_METHOD(PackageFixture,
                 "of those who change the configuration with one entity tag exactly one is first") {
    constexpr std::array keys{"gpu.type", "container.features", "scheduler.strategy", "gpu.allocation_mode"};
    constexpr std::array values{"amd", "fast", "binpack", "one"};
    const std::string seen = config().etag();
    const auto unchanged = [&](std::string_view etag) {
        if (etag != seen) throw Error(ErrorCode::precondition_failed, "changed");
    };
    CHECK(count_passing(4, [&](int i) { config().patch({keys[i], values[i]}, "test", unchanged); }) == 1);
    CHECK(life->config_records.list().size() == 1);
}

TEST_CASE_METHOD(PackageFixture, "a change that was taken is in effect, whoever is still to be told") {
    Gate gate;
    config().on_change("gpu.type", [&] { gate.pass(); });
    const Started started = config().patch({"gpu.type", "amd"}, "test");
    gate.await();
    CHECK(config().text("gpu.type") == "amd");
    gate.open();
    CHECK(wait(started)->err.empty());
}

TEST_CASE_METHOD(PackageFixture, "changes that an earlier version has taken, but not made, are made") {
    configure("scheduler.strategy", "binpack");
    end_life();
    std::vector<std::string> stored;
    for (const auto& [name, value] : {std::pair{"gpu.type", "amd"}, std::pair{"scheduler.strategy", ""}}) {
        Operation operation;
        operation.id = OperationId(ids.uuid());
        operation.kind = "config.set";
        operation.claims = {"config/" + std::string(name)};
        operation.arguments = Json::object({{"name", name}, {"value", value}});
        sqlite.commit(Batch().put("operations/" + operation.id.str(), operation_to_store(operation).dump()));
        stored.push_back(operation.id.str());
    }
    restart();
    for (const std::string& id : stored)
        CHECK(engine().wait(id, std::nullopt)->status == OperationStatus::success);
    CHECK(config().text("gpu.type") == "amd");
    CHECK(config().text("scheduler.strategy") == "spread");
}

#include "libsvc/model/packages/addon.h"

#include <catch2/catch.hpp>

#include "tests/support/golden.h"
#include "tests/unit/model/record_checks.h"

namespace svc {
namespace {

using test::check_golden;
using test::code_of;
using test::message_of;

Addon sample_addon() {
    Addon addon;
    addon.name = "ssh";
    addon.next_version = 3;
    addon.created_at = from_rfc3339("2024-01-02T03:04:05Z");
    AddonVersion first;
    first.version = 0;
    first.fingerprint = std::string(64, 'a');
    first.size = 529;
    first.created_at = addon.created_at;
    first.hooks = {"install", "post-start"};
    first.abi_support = {"armeabi"};
    first.hook_timeout_seconds = 90;
    first.description = "a shell";
    AddonVersion second = first;
    second.version = 2;
    second.fingerprint = std::string(64, 'b');
    addon.versions = {first, second};
    return addon;
}

TEST_CASE("the record of an addon") {
    check_golden("unit/model/golden/addon.json", to_json(sample_addon(), {}));
    check_golden("unit/model/golden/addon_used.json", to_json(sample_addon(), {"candy"}));
}

TEST_CASE("an addon is stored whole and read back") {
    check_golden("unit/model/golden/addon_stored.json", addon_to_store(sample_addon()));
    const Json stored = Json::parse(test::read_golden("unit/model/golden/addon_stored.json"));
    CHECK(addon_to_store(addon_from_store(stored)) == stored);
    test::check_members(stored, {"name", "next_version", "created_at"}, {}, addon_from_store);
}

TEST_CASE("the newest version of an addon is none that is being deleted") {
    Addon addon = sample_addon();
    CHECK(addon.newest()->version == 2);
    addon.version(2)->deleting = true;
    CHECK(addon.newest()->version == 0);
    addon.version(0)->deleting = true;
    CHECK(addon.newest() == nullptr);
    CHECK(addon.version(1) == nullptr);
}

TEST_CASE("a version of an addon as instances are given it") {
    const Addon addon = sample_addon();
    const PackageRef package = addon.package(*addon.version(2), true);
    CHECK_FALSE(package.is_application);
    CHECK(package.name == "ssh");
    CHECK(package.version == 2);
    CHECK(package.fingerprint == std::string(64, 'b'));
    CHECK(package.hooks == std::vector<std::string>{"install", "post-start"});
    CHECK(package.hook_timeout_seconds == 90);
    CHECK(package.fetch);
}

TEST_CASE("the entity tag of an addon follows its versions") {
    Addon addon = sample_addon();
    const std::string before = etag_text(addon);
    CHECK(before == R"({"name":"ssh","versions":[{"version":0,"fingerprint":")" + std::string(64, 'a') +
                        R"("},{"version":2,"fingerprint":")" + std::string(64, 'b') + R"("}]})");
    addon.versions.pop_back();
    CHECK(etag_text(addon) != before);
}

TEST_CASE("the request header of an addon") {
    CHECK(AddonRequest::parse(R"({"name":"ssh","other":1})").name == "ssh");
    CHECK(message_of([] { AddonRequest::parse(""); }) == "name is required");
    CHECK(message_of([] { AddonRequest::parse("{}"); }) == "name is required");
    CHECK(message_of([] { AddonRequest::parse(R"({"name":""})"); }) == "name is required");
    for (const char* header : {"{", "[]", "null", R"({"name":1})", R"({"name":"a/b"})",
                               R"({"name":"c5pvhr3fbn40000000a0"})", R"({"name":"a","name":"b"})"}) {
        INFO(header);
        CHECK(code_of([&] { AddonRequest::parse(header); }) == ErrorCode::invalid_argument);
    }
}

}  // namespace
}  // namespace svc

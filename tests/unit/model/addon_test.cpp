#include "libsvc/model/packages/addon.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::check_golden;

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

TEST_CASE("an addon is stored whole, read back and checked") {
    test::check_record_codec<Addon>({"addon_stored.json",
                                     sample_addon(),
                                     addon_to_store,
                                     addon_from_store,
                                     {"name", "next_version", "created_at"},
                                     {}});
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
    test::check_codec(AddonRequest::parse, {{"", "name is required"},
                                            {"{}", "name is required"},
                                            {R"({"name":""})", "name is required"},
                                            {"{", test::is_refused},
                                            {"[]", test::is_refused},
                                            {"null", test::is_refused},
                                            {R"({"name":1})", test::is_refused},
                                            {R"({"name":"a/b"})", test::is_refused},
                                            {R"({"name":"c5pvhr3fbn40000000a0"})", test::is_refused},
                                            {R"({"name":"a","name":"b"})", test::is_refused}});
}

}  // namespace
}  // namespace svc

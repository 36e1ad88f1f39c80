#include "libsvc/model/packages/package_ref.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

PackageRef with_hooks(std::vector<std::string> hooks) {
    PackageRef package;
    package.name = "ssh";
    package.hooks = std::move(hooks);
    return package;
}

TEST_CASE("what an instance is made with, both ways") {
    PackageRef package = with_hooks({"pre-start", "post-stop"});
    package.version = 3;
    package.fingerprint = std::string(64, 'a');
    package.size = 5000000000;
    package.hook_timeout_seconds = 60;
    package.fetch = true;
    test::check_record_codec<PackageRef>({"",
                                          package,
                                          [](const PackageRef& written) { return written.to_json(); },
                                          PackageRef::from_json,
                                          {"type", "name"},
                                          {}});
    CHECK(PackageRef::from_json(package.to_json()) == package);
    CHECK(package.to_json().at("type").as_string() == "addon");

    package.is_application = true;
    CHECK(package.to_json().at("type").as_string() == "application");
    CHECK(PackageRef::from_json(package.to_json()) == package);
}

TEST_CASE("a package of unknown type or impossible numbers is refused") {
    test::check_codec(
        PackageRef::from_json,
        test::all_refused({R"({"type":"image","name":"x"})", R"({"type":"addon","name":"x","version":-1})",
                           R"({"type":"addon","name":"x","size":-1})",
                           R"({"type":"addon","name":"x","hook_timeout_seconds":2147483648})"}));
}

TEST_CASE("the agent boots an instance that has something to do before its guest") {
    CHECK_FALSE(boots_with_agent({}, false));
    CHECK_FALSE(boots_with_agent({with_hooks({"post-start", "post-stop"})}, true));
    CHECK(boots_with_agent({with_hooks({}), with_hooks({"pre-start"})}, true));
    CHECK(boots_with_agent({with_hooks({"pre-start"})}, false));
    CHECK(boots_with_agent({with_hooks({"install"})}, true));
    CHECK_FALSE(boots_with_agent({with_hooks({"install"})}, false));
    CHECK(boots_with_agent({with_hooks({"restore"})}, false));
    CHECK_FALSE(boots_with_agent({with_hooks({"restore"})}, true));
    PackageRef fetched = with_hooks({});
    fetched.fetch = true;
    CHECK(boots_with_agent({fetched}, false));
}

TEST_CASE("hooks after the guest, and the cleaning up of a base instance") {
    CHECK(ends_with_hooks({}, true));
    CHECK_FALSE(ends_with_hooks({with_hooks({"install", "pre-start", "post-start"})}, false));
    CHECK(ends_with_hooks({with_hooks({"backup"})}, false));
    CHECK(ends_with_hooks({with_hooks({}), with_hooks({"post-stop"})}, false));
}

}  // namespace
}  // namespace svc

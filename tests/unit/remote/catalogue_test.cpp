#include "libsvc/remote/catalogue.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"

using namespace svc;
using svc::test::code_of;

namespace {

// The sample of the registry's record, with one member replaced.
Json record(const std::string& key = "", Json value = {}) {
    Json sample = Json::parse(
        R"({"name":"candy","architectures":["x86_64"],"boot_package":"com.foo.candy","instance_type":"a4.3",)"
        R"("tags":["game"],"versions":{"0":{"boot_activity":"","features":[],"hooks":{"timeout":""},)"
        R"("bootstrap":{"keep":[]},"video_encoder":"gpu-preferred"}},"vm":false})");
    if (!key.empty()) sample.set(key, std::move(value));
    return sample;
}

bool is_refused(const std::string& key, const Json& value) {
    return code_of([&] { CatalogueApplication::from_json(record(key, value)); }) ==
           ErrorCode::invalid_argument;
}

Json many(std::size_t count) {
    JsonArray items(count, Json("x"));
    return Json::array(std::move(items));
}

}  // namespace

TEST_CASE("the record of a registry application is read and written alike") {
    CHECK(CatalogueApplication::from_json(record()).to_json().dump() == record().dump());
}

TEST_CASE("versions are ordered by number, not by text") {
    const auto application = CatalogueApplication::from_json(record(
        "versions", Json::object({{"10", Json::object()}, {"9", Json::object()}, {"0", Json::object()}})));
    REQUIRE(application.versions.size() == 3);
    CHECK(application.versions[1].number == 9);
    CHECK(application.versions[2].number == 10);
}

TEST_CASE("records of a hostile registry are refused") {
    for (const char* name : {"", "..", "../../etc", "a/b", ".hidden", "a\nb"})
        CHECK(is_refused("name", name));
    CHECK(is_refused("name", std::string(129, 'a')));
    CHECK(is_refused("name", 7));
    CHECK(is_refused("architectures", "x86_64"));
    CHECK(is_refused("architectures", Json::array({"../x"})));
    CHECK(is_refused("architectures", many(17)));
    CHECK(is_refused("tags", Json::array({""})));
    CHECK(is_refused("tags", Json::array({1})));
    CHECK(is_refused("tags", many(1001)));
    CHECK(is_refused("boot_package", std::string(1000, 'a')));
    CHECK(is_refused("instance_type", "a\x1b[2J"));
    CHECK(is_refused("versions", Json::array()));
    for (const char* number : {"-1", "01", "1.0", "x", "", "99999999999"})
        CHECK(is_refused("versions", Json::object({{number, Json::object()}})));
    CHECK(is_refused("versions", Json::object({{"0", "text"}})));
}

TEST_CASE("a registry is a directory or behind TLS, and then pinned") {
    const auto refusal = [](const std::string& url) {
        CatalogueOptions options;
        options.url = url;
        return code_of([&] { open_catalogue(options); });
    };
    CHECK(refusal("http://127.0.0.1:3000") == ErrorCode::invalid_argument);
    CHECK(refusal("file://relative") == ErrorCode::invalid_argument);
    CHECK(refusal("") == ErrorCode::invalid_argument);
    CHECK(refusal("https://127.0.0.1:3000") == ErrorCode::invalid_argument);
}

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "tests/api/header.h"
#include "tests/support/application_package.h"
#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct AddonSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string package = addon_package();

    ApiReply create(const std::string& request, const Headers& headers = {}) {
        return api.upload(Method::post, "/1.0/addons", request, package, headers);
    }
    ApiReply update(const std::string& text, const Headers& headers = {}) {
        return api.upload(Method::patch, "/1.0/addons/ssh", "{}", addon_package(text), headers);
    }
    std::size_t versions() { return api.get("/1.0/addons/ssh").metadata().at("versions").as_array().size(); }
};

}  // namespace

TEST_CASE_METHOD(AddonSetup, "an uploaded addon is there when its operation ends") {
    const ApiReply accepted = create(R"({"name":"ssh"})", header("X-SVC-Fingerprint", sha256_hex(package)));
    const Json operation = api.succeed(accepted);
    CHECK(operation.at("resources") == Json::object({{"addons", Json::array({"/1.0/addons/ssh"})}}));
    const ApiReply shown = api.get("/1.0/addons/ssh");
    check_golden("api/golden/addon.json", normalise(shown.json()));
    CHECK(shown.headers.get("ETag").size() == 66);
    CHECK(api.get("/1.0/addons").metadata() == Json::array({"/1.0/addons/ssh"}));
    CHECK(api.get("/1.0/addons?recursion=1").metadata() == Json::array({shown.metadata()}));
}

TEST_CASE_METHOD(AddonSetup, "faulty addons are refused and leave nothing") {
    CHECK(create("").status == 400);
    CHECK(create("{}").status == 400);
    CHECK(create(R"({"name":3})").status == 400);
    CHECK(create(R"({"name":"a b"})").status == 400);
    CHECK(create(R"({"name":"x"})", header("Content-Type", "application/json")).status == 400);
    CHECK(create(R"({"name":"x"})", header("X-SVC-Fingerprint", std::string(64, '0'))).status == 400);
    package = bzip2_package({{"hooks/install", "#!/bin/sh\n", 0755}});
    CHECK(create(R"({"name":"x"})").error() == "manifest.yaml not found");
    package = bzip2_package({{"manifest.yaml", "name: x\n"}, {"hooks/install", "#!/bin/sh\n", 0644}});
    CHECK(create(R"({"name":"x"})").error().find("not executable") != std::string::npos);
    CHECK(api.get("/1.0/addons").metadata() == Json::array());
    CHECK(std::filesystem::is_empty(daemon.options().state_dir / "blobs" / "incoming"));
}

TEST_CASE_METHOD(AddonSetup, "a package makes a version of an addon") {
    api.add_addon("ssh", package);
    CHECK(create(R"({"name":"ssh"})").error() == "addon already exists");
    CHECK(update("hello").error() == "addon not changed");
    api.succeed(update("new"));
    CHECK(versions() == 2);
    CHECK(api.upload(Method::patch, "/1.0/addons/nothing", "{}", package).error() == "addon not found");
    CHECK(api.upload(Method::patch, "/1.0/addons/ssh", "[", package).status == 400);
    CHECK(api.patch("/1.0/addons/ssh", Json::object()).status == 400);
}

TEST_CASE_METHOD(AddonSetup, "a stale etag of an addon is refused and nothing changes") {
    api.add_addon("ssh", package);
    const std::string etag = api.get("/1.0/addons/ssh").headers.get("ETag");
    const ApiReply stale = update("new", header("If-Match", "\"" + std::string(64, 'a') + "\""));
    CHECK(stale.status == 412);
    CHECK(stale.error() == "ETag doesn't match: " + std::string(64, 'a') + " vs " + etag.substr(1, 64));
    CHECK(versions() == 1);
    CHECK(std::filesystem::is_empty(daemon.options().state_dir / "blobs" / "incoming"));
    api.succeed(update("new", header("If-Match", etag)));
    CHECK(update("newer", header("If-Match", etag)).status == 412);
    CHECK(update("newer", header("If-Match", "\"x\", *")).status == 202);
}

TEST_CASE_METHOD(AddonSetup, "addons and their versions are deleted") {
    api.add_addon("ssh", package);
    CHECK(api.remove("/1.0/addons/ssh/0").error() == "deleting the last version of an addon not allowed");
    api.succeed(update("new"));
    CHECK(api.remove("/1.0/addons/ssh/7").status == 404);
    CHECK(api.remove("/1.0/addons/ssh/latest").status == 404);
    api.succeed(api.remove("/1.0/addons/ssh/0", "{\"force\":true}"));  // clients send bodies with DELETE
    CHECK(versions() == 1);
    api.succeed(api.remove("/1.0/addons/ssh"));
    CHECK(api.get("/1.0/addons/ssh").error() == "addon not found");
    CHECK(api.remove("/1.0/addons/ssh").status == 404);
}

TEST_CASE_METHOD(AddonSetup, "an addon that an application uses stays") {
    api.add_image("base", image_package());
    api.add_addon("ssh", package);
    const std::string id = api.add_application(application_package("candy", "addons: [ssh]\n"));
    CHECK(api.remove("/1.0/addons/ssh").error() == "addon is in use");
    CHECK(api.get("/1.0/addons/ssh").metadata().at("used_by").as_array().size() == 1);
}

}  // namespace svc::test

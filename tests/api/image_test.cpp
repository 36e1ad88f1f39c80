#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "tests/api/header.h"
#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct ImageSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string package = image_package();

    ApiReply create(const std::string& name, const Headers& headers = {}) {
        return api.upload(Method::post, "/1.0/images", "{\"name\":\"" + name + "\"}", package, headers);
    }
};

}  // namespace

TEST_CASE_METHOD(ImageSetup, "an uploaded image becomes active") {
    const ApiReply accepted = create("base", header("X-SVC-Fingerprint", sha256_hex(package)));
    CHECK(accepted.headers.get("Location") == accepted.operation());
    Json answer = normalise(accepted.json());
    Json record = answer.at("metadata");
    record.set("metadata", nullptr);  // how far it is already
    answer.set("metadata", record);
    check_golden("api/golden/image_created.json", answer);
    const Json operation = api.wait(accepted);
    check_golden("api/golden/image_operation.json", normalise(operation));
    const ApiReply shown = api.get("/1.0/images/base");
    check_golden("api/golden/image.json", normalise(shown.json()));
    CHECK(shown.metadata().at("versions").as_array().at(0).at("fingerprint") == Json(sha256_hex(package)));
    CHECK(shown.headers.get("ETag").size() == 66);
}

TEST_CASE_METHOD(ImageSetup, "images are listed as urls records or the default alone") {
    CHECK(api.get("/1.0/images?default=true").metadata() == Json::array());
    const std::string id = api.add_image("base", package);
    CHECK(api.get("/1.0/images").metadata() == Json::array({"/1.0/images/" + id}));
    const Json record = api.get("/1.0/images/" + id).metadata();
    CHECK(api.get("/1.0/images?recursion=1").metadata() == Json::array({record}));
    CHECK(api.get("/1.0/images?default=true").metadata() == Json::array({record}));
    CHECK(api.get("/1.0/images?default=maybe").status == 400);
}

TEST_CASE_METHOD(ImageSetup, "faulty uploads are refused and leave nothing") {
    CHECK(create("base", header("Content-Type", "text/plain")).status == 400);
    CHECK(create("base", header("X-SVC-Fingerprint", "12")).status == 400);
    CHECK(create("base", header("X-SVC-Fingerprint", std::string(64, '0'))).status == 400);
    CHECK(create("a b").status == 400);
    CHECK(api.upload(Method::post, "/1.0/images", "[", package).status == 400);
    CHECK(api.upload(Method::post, "/1.0/images", "{\"name\":\"base\"}", "this is no archive").status == 400);
    CHECK(api.post("/1.0/images", Json::object({{"name", "base"}})).status == 400);
    CHECK(api.get("/1.0/images").metadata() == Json::array());
    CHECK(std::filesystem::is_empty(daemon.options().state_dir / "blobs" / "incoming"));
}

TEST_CASE_METHOD(ImageSetup, "a taken name is a conflict") {
    api.add_image("base", package);
    const ApiReply reply = create("base");
    CHECK(reply.status == 409);
    CHECK(reply.error() == "image already exists");
}

TEST_CASE_METHOD(ImageSetup, "a package patch makes a version") {
    api.add_image("base", package);
    CHECK(api.upload(Method::patch, "/1.0/images/base", "{}", package).error() == "image not changed");
    const ApiReply accepted =
        api.upload(Method::patch, "/1.0/images/base", R"({"default":null,"force_sync":false})",
                   image_package({.text = "new"}));
    CHECK(api.wait(accepted).at("status_code") == Json(200));
    CHECK(api.get("/1.0/images/base").metadata().at("versions").as_array().size() == 2);
}

TEST_CASE_METHOD(ImageSetup, "a json patch moves the default") {
    api.add_image("first", package);
    api.add_image("second", package);
    CHECK(api.wait(api.patch("/1.0/images/second", Json::object({{"default", true}}))).at("status_code") ==
          Json(200));
    CHECK(api.get("/1.0/images?default=true").metadata().as_array().at(0).at("name") == Json("second"));
    CHECK(api.patch("/1.0/images/second", Json::object({{"default", "yes"}})).status == 400);
    CHECK(api.patch("/1.0/images/third", Json::object({{"default", true}})).status == 404);
}

TEST_CASE_METHOD(ImageSetup, "a stale etag is refused before the body") {
    api.add_image("base", package);
    const std::string etag = api.get("/1.0/images/base").headers.get("ETag");
    const std::string other = image_package({.text = "new"});
    const auto patch = [&](const std::string& tag, const std::string& body) {
        return api.upload(Method::patch, "/1.0/images/base", "", body, header("If-Match", tag));
    };
    const ApiReply stale = patch("\"" + std::string(64, 'a') + "\"", other);
    CHECK(stale.status == 412);
    CHECK(stale.error() == "ETag doesn't match: " + std::string(64, 'a') + " vs " + etag.substr(1, 64));
    CHECK(patch("\"x\", " + etag, package).error() == "image not changed");
    CHECK(patch("*", package).error() == "image not changed");
    CHECK(patch(etag.substr(1, 64), other).status == 202);
}

TEST_CASE_METHOD(ImageSetup, "images and versions are deleted") {
    api.add_image("base", package);
    CHECK(api.remove("/1.0/images/base/0").status == 400);  // the last one
    CHECK(api.wait(api.upload(Method::patch, "/1.0/images/base", "", image_package({.text = "new"})))
              .at("err") == Json(""));
    CHECK(api.remove("/1.0/images/base/7").status == 404);
    CHECK(api.remove("/1.0/images/base/latest").status == 404);
    CHECK(api.wait(api.remove("/1.0/images/base/0")).at("status_code") == Json(200));
    CHECK(api.remove("/1.0/images/base", "{\"force\":1}").status == 400);
    CHECK(api.wait(api.remove("/1.0/images/base", "{\"force\":false}")).at("status_code") == Json(200));
    CHECK(api.get("/1.0/images/base").error() == "image not found");
    CHECK(api.remove("/1.0/images/base").status == 404);
}

TEST_CASE_METHOD(ImageSetup, "json imports from the image server that is configured") {
    const auto import = [&](const Json& body) {
        return api.call(Method::post, "/1.0/images", body.dump(), header("Content-Type", "application/json"));
    };
    CHECK(import(Json::object({{"name", "x"}})).error() == "path is required");
    CHECK(import(Json::object({{"path", "x"}})).error() == "name is required");
    CHECK(import(Json::object({{"name", "x"}, {"path", "x"}, {"default", "yes"}})).status == 400);
    CHECK(import(Json::object({{"name", "x"}, {"path", "jammy:amd64"}})).status ==
          400);  // images.url is empty
}

TEST_CASE_METHOD(ImageSetup, "images are paged") {
    for (const char* name : {"a", "b", "c"}) api.add_image(name, image_package({.text = name}));
    const ApiReply page = api.get("/1.0/images?recursion=1&offset=1&limit=1");
    CHECK(page.metadata().as_array().size() == 1);
    CHECK(page.metadata().as_array().at(0).at("name") == Json("b"));
    CHECK(page.json().at("total_size") == Json(3));
}

TEST_CASE_METHOD(ImageSetup, "images outlive a restart") {
    const std::string id = api.add_image("base", package);
    const Json before = api.get("/1.0/images/" + id).metadata();
    daemon.restart();
    CHECK(daemon.api().get("/1.0/images/base").metadata() == before);
}

}  // namespace svc::test

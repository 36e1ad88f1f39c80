#include <catch2/catch.hpp>

#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct RegistrySetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::filesystem::path directory = daemon.path() / "registry";

    RegistrySetup() {
        std::filesystem::create_directory(directory);
        api.add_image("base", image_package());
    }
    void use_registry(ApiCaller& caller, const std::string& mode) {
        caller.set("registry.mode", mode);
        caller.set("registry.url", "file://" + directory.string());
    }
};

const std::string applications = "/1.0/registry/applications";

}  // namespace

TEST_CASE_METHOD(RegistrySetup, "without a registry every route says so") {
    for (const ApiReply& reply :
         {api.get(applications), api.call(Method::post, applications + "/candy/push"),
          api.call(Method::post, applications + "/candy/pull"), api.remove(applications + "/candy")}) {
        CHECK(reply.status == 400);
        CHECK(reply.error() == "registry not configured");
    }
}

TEST_CASE_METHOD(RegistrySetup, "an application travels through the registry to another service") {
    api.add_application(application_package("candy", "tags: [game]\n"));
    use_registry(api, "manual");
    CHECK(api.get(applications).metadata() == Json::array());
    api.succeed(api.call(Method::post, applications + "/candy/push"));
    const Json listed = api.get(applications).metadata();
    CHECK(listed.as_array().at(0).at("name") == Json("candy"));
    CHECK(listed.as_array().at(0).at("versions").find("0") != nullptr);
    CHECK(api.get(applications + "?recursion=1").metadata() == listed);

    TestDaemon other;
    use_registry(other.api(), "manual");
    other.api().succeed(other.api().call(Method::post, applications + "/candy/pull"));
    other.api().settle();
    const Json pulled = other.api().get("/1.0/applications/candy").metadata();
    CHECK(pulled.at("status") == Json("ready"));
    CHECK(pulled.at("immutable") == Json(true));
    other.api().succeed(other.api().post("/1.0/containers", Json::object({{"app_id", "candy"}})));
    api.succeed(api.remove(applications + "/candy"));
    CHECK(api.get(applications).metadata() == Json::array());
}

TEST_CASE_METHOD(RegistrySetup, "modes allow one direction alone") {
    api.add_application(application_package("candy"));
    use_registry(api, "pull");
    CHECK(api.call(Method::post, applications + "/candy/push").status == 400);
    api.set("registry.mode", "push");
    CHECK(api.call(Method::post, applications + "/candy/pull").status == 400);
    CHECK(api.call(Method::post, applications + "/nothing/push").status == 404);
}

}  // namespace svc::test

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// An instance that has yet to fetch its addon.
struct ArtifactSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    ApiCaller inside{daemon.agent_target()};
    std::string package = addon_package();
    std::string instance;

    ArtifactSetup() {
        api.add_image("base", image_package());
        api.add_addon("ssh", package);
        instance = prepare(Json::array({"ssh"}));
    }
    std::string prepare(const Json& addons) {
        return resource_id(api.succeed(api.post("/1.0/containers", Json::object({{"image_id", "base"},
                                                                                 {"instance_type", "a2.3"},
                                                                                 {"addons", addons},
                                                                                 {"no_start", true}}))),
                           "containers");
    }
    ApiReply get(const std::string& path, const std::string& token) {
        Headers headers;
        headers.set("Authorization", token);
        return inside.call(Method::get, path, "", headers);
    }
};

}  // namespace

TEST_CASE_METHOD(ArtifactSetup, "an instance fetches its packages with its token") {
    const std::string digest = sha256_hex(package);
    CHECK(get("/1.0/artifacts", daemon.bearer(instance)).metadata() ==
          Json::array({Json::object({{"id", digest},
                                     {"type", "addon"},
                                     {"name", "ssh"},
                                     {"version", 0},
                                     {"fingerprint", digest},
                                     {"size", package.size()}})}));
    const ApiReply sent = get("/1.0/artifacts/" + digest, daemon.bearer(instance));
    CHECK(sent.text == package);
    CHECK(sent.headers.get("Content-Type") == "application/octet-stream");
    CHECK(sent.headers.get("Content-Length") == std::to_string(package.size()));
    CHECK(sent.headers.get("Content-Disposition") == "attachment; filename=\"ssh-0.tar.bz2\"");
    CHECK(sent.headers.get("X-SVC-Fingerprint") == digest);
}

TEST_CASE_METHOD(ArtifactSetup, "a token opens the packages of its instance alone") {
    const std::string other = prepare(JsonArray{});
    const std::string url = "/1.0/artifacts/" + sha256_hex(package);
    CHECK(get("/1.0/artifacts", daemon.bearer(other)).metadata() == Json::array());
    CHECK(get(url, daemon.bearer(other)).error() == "artifact not found");
    CHECK(get("/1.0/artifacts/" + std::string(64, '0'), daemon.bearer(instance)).status == 404);
}

TEST_CASE_METHOD(ArtifactSetup, "bad tokens are refused") {
    const std::string url = "/1.0/artifacts/" + sha256_hex(package);
    CHECK(inside.get(url).error() == "missing token");
    CHECK(inside.get("/1.0/artifacts").status == 401);
    CHECK(api.get("/1.0/artifacts").status == 401);  // trust is not enough
    CHECK(get(url, "bearer x.y.z").error() == "Not Authorized");
    CHECK(get(url, "Basic eDp5").status == 403);
    const std::string token = daemon.bearer(instance);
    api.succeed(api.remove("/1.0/containers/" + instance));
    CHECK(get(url, token).status == 403);
}

}  // namespace svc::test

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/digest.h"
#include "tests/api/header.h"
#include "tests/api/metric_value.h"
#include "tests/support/application_package.h"
#include "tests/support/eventually.h"
#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct ApplicationSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string image = api.add_image("base", image_package());

    ApiReply create(const std::string& package, const Headers& headers = {}) {
        return api.upload(Method::post, "/1.0/applications", "", package, headers);
    }
    ApiReply update(const std::string& name, const std::string& package, const Headers& headers = {}) {
        return api.upload(Method::patch, "/1.0/applications/" + name, "", package, headers);
    }
    Json record(const std::string& name) { return api.get("/1.0/applications/" + name).metadata(); }
    Json names(const std::string& query) {
        JsonArray found;
        const Json records = api.get("/1.0/applications?recursion=1&" + query).metadata();
        for (const Json& record : records.as_array()) found.push_back(record.at("name"));
        return Json(std::move(found));
    }
};

}  // namespace

TEST_CASE_METHOD(ApplicationSetup, "an uploaded application is bootstrapped and published") {
    const ApiReply accepted = create(application_package("candy", "image: base\ntags: [game]\n"));
    CHECK(accepted.headers.get("Location") == accepted.operation());
    const std::string id = resource_id(api.succeed(accepted), "applications");
    api.settle();
    const ApiReply shown = api.get("/1.0/applications/candy");
    check_golden("api/golden/application.json", normalise(shown.json()));
    CHECK(shown.headers.get("ETag").size() == 66);
    CHECK(api.get("/1.0/applications").metadata() == Json::array({"/1.0/applications/" + id}));
    CHECK(api.get("/1.0/applications?recursion=1").metadata() == Json::array({record(id)}));
    CHECK(api.get("/1.0/containers").metadata() == Json::array());  // the base container is gone
}

TEST_CASE("a bootstrap goes on wherever an orderly restart meets it") {
    for (int round = 0; round < 20; ++round) {
        TestDaemon daemon([](server::Options& options) { options.shutdown_grace = Duration(0); });
        daemon.api().add_image("base", image_package());
        daemon.api().succeed(
            daemon.api().upload(Method::post, "/1.0/applications", "", application_package("candy")));
        daemon.restart();
        daemon.api().settle();
        CHECK(daemon.api().get("/1.0/applications/candy").metadata().at("status") == Json("ready"));
    }
}

TEST_CASE_METHOD(ApplicationSetup, "faulty applications are refused") {
    CHECK(create("this is no archive").status == 400);
    CHECK(create(bzip2_package({{"readme", "x"}})).error() == "manifest.yaml not found");
    CHECK(create(application_package("candy", "instance-type: huge\n")).status == 400);
    CHECK(create(application_package("candy", "image: nothing\n")).status == 404);
    CHECK(create(application_package("candy", "addons: [nothing]\n")).status == 404);
    CHECK(create(application_package("candy"), header("X-SVC-Fingerprint", std::string(64, '0'))).status ==
          400);
    CHECK(api.post("/1.0/applications", Json::object({{"name", "candy"}})).status == 400);
    CHECK(api.get("/1.0/applications").metadata() == Json::array());
    api.add_application(application_package("candy"));
    CHECK(create(application_package("candy")).error() == "application already exists");
}

TEST_CASE_METHOD(ApplicationSetup, "a json patch changes fields and makes a version where it must") {
    api.add_application(application_package("candy"));
    api.succeed(api.patch("/1.0/applications/candy",
                          Json::object({{"tags", Json::array({"game"})}, {"instance-type", "a4.3"}})));
    CHECK(record("candy").at("instance_type") == Json("a4.3"));
    CHECK(record("candy").at("versions").as_array().size() == 1);
    // Without a Content-Type: some clients send none.
    api.succeed(api.call(Method::patch, "/1.0/applications/candy", R"({"manifest_version":"2"})"));
    api.settle();
    CHECK(record("candy").at("versions").as_array().at(1).at("manifest_version") == Json("2"));
    CHECK(api.patch("/1.0/applications/candy", Json::object({{"tags", 3}})).status == 400);
    CHECK(api.patch("/1.0/applications/nothing", Json::object()).status == 404);
}

TEST_CASE_METHOD(ApplicationSetup, "a pool is set, bounded and shown") {
    api.add_application(application_package("candy"));
    const auto set = [&](const char* pool) {
        return api.call(Method::patch, "/1.0/applications/candy", std::string(R"({"pool":)") + pool + "}");
    };
    CHECK(record("candy").find("pool") == nullptr);
    CHECK(set(R"({"min": 2, "max": 1})").error() == "argument pool.max is invalid: must not be below min");
    CHECK(set(R"({"min": -1})").status == 400);
    CHECK(set(R"({"min": 11})").error() ==
          "argument pool.max is invalid: must not be above application.max_pool_size, which is 10");
    api.succeed(set(R"({"min": 1, "max": 2})"));
    CHECK(record("candy").at("pool") == Json::parse(R"({"min": 1, "max": 2, "late_data": false})"));
    CHECK(record("candy").at("versions").as_array().size() == 1);
    eventually("one waits", [&] {
        return api.get("/1.0/instances?pooled=true&status=running").metadata().as_array().size() == 1;
    });
    const Json waiting = api.get("/1.0/instances?pooled=true").metadata();
    const ApiReply launch = api.post("/1.0/instances", Json::object({{"app_id", "candy"}}));
    CHECK(api.succeed(launch).at("resources").at("instances") == waiting);
    CHECK(api.get("/1.0/instances?pooled=false").metadata() == waiting);
    CHECK(api.get(waiting.as_array().at(0).as_string()).metadata().find("pooled") == nullptr);
    const std::string scrape = ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text;
    CHECK(value(scrape, R"(svc_cluster_pool_claims_total{application="candy"})") == 1);
    CHECK(value(scrape, R"(svc_cluster_pool_misses_total{application="candy"})") == 0);
    api.succeed(set("{}"));
    CHECK(record("candy").find("pool") == nullptr);
    eventually("none waits",
               [&] { return api.get("/1.0/instances?pooled=true").metadata() == Json::array(); });
}

TEST_CASE_METHOD(ApplicationSetup, "a package patch makes a version of an application") {
    api.add_application(application_package("candy"));
    api.succeed(update("candy", application_package("candy", "version: two\n")));
    api.settle();
    CHECK(record("candy").at("versions").as_array().at(1).at("status") == Json("active"));
    CHECK(update("candy", application_package("soda")).status == 400);
    CHECK(update("nothing", application_package("candy")).status == 404);
}

TEST_CASE_METHOD(ApplicationSetup, "a stale etag of an application is refused and nothing changes") {
    api.add_application(application_package("candy"));
    const std::string etag = api.get("/1.0/applications/candy").headers.get("ETag");
    Headers headers = header("If-Match", std::string(64, 'a'));
    CHECK(update("candy", application_package("candy", "version: two\n"), headers).status == 412);
    headers.set("Content-Type", "application/json");
    CHECK(api.call(Method::patch, "/1.0/applications/candy", R"({"tags":["x"]})", headers).status == 412);
    CHECK(record("candy").at("tags").is_null());
    CHECK(record("candy").at("versions").as_array().size() == 1);
    headers.set("If-Match", etag);
    api.succeed(api.call(Method::patch, "/1.0/applications/candy", R"({"tags":["x"]})", headers));
    CHECK(api.call(Method::patch, "/1.0/applications/candy", R"({"tags":["y"]})", headers).status == 412);
}

TEST_CASE_METHOD(ApplicationSetup, "of many changes of what one client has seen one is made") {
    api.add_application(application_package("candy"));
    for (int round = 0; round < 10; ++round) {
        Headers headers = header("If-Match", api.get("/1.0/applications/candy").headers.get("ETag"));
        headers.set("Content-Type", "application/json");
        std::atomic<int> made{0};
        std::vector<std::jthread> clients;
        for (int client = 0; client < 4; ++client)
            clients.emplace_back([&, tag = std::to_string(round) + "-" + std::to_string(client)] {
                const std::string body = R"({"tags":[")" + tag + R"("]})";
                ApiCaller caller(daemon.local_target());
                if (caller.call(Method::patch, "/1.0/applications/candy", body, headers).status == 202)
                    ++made;
            });
        clients.clear();
        CHECK(made == 1);
    }
}

TEST_CASE_METHOD(ApplicationSetup, "versions are revoked and published") {
    api.add_application(application_package("candy"));
    const auto publish = [&](const std::string& version, const std::string& body) {
        return api.call(Method::patch, "/1.0/applications/candy/" + version, body);
    };
    api.succeed(publish("0", R"({"published":false})"));
    CHECK(record("candy").at("published") == Json(false));
    CHECK(api.post("/1.0/containers", Json::object({{"app_id", "candy"}})).status >= 400);
    api.succeed(publish("0", R"({"published":true})"));
    CHECK(record("candy").at("published") == Json(true));
    CHECK(publish("0", "{}").error() == "published is required");
    CHECK(publish("0", R"({"published":"yes"})").status == 400);
    CHECK(publish("9", R"({"published":true})").status == 404);
    CHECK(publish("first", R"({"published":true})").status == 404);
}

TEST_CASE_METHOD(ApplicationSetup, "manifests are yaml with their digest") {
    api.add_application(application_package("candy", "version: '1.10'\n"));
    const ApiReply newest = api.get("/1.0/applications/candy/manifest");
    CHECK(newest.headers.get("Content-Type") == "application/octet-stream");
    CHECK(newest.headers.get("X-SVC-ManifestSha256") == sha256_hex(newest.text));
    CHECK(newest.text.find("name: candy\n") != std::string::npos);
    CHECK(api.get("/1.0/applications/candy/0/manifest").text == newest.text);
    CHECK(api.get("/1.0/applications/candy/9/manifest").status == 404);
    CHECK(api.get("/1.0/applications/nothing/manifest").status == 404);
}

TEST_CASE_METHOD(ApplicationSetup, "the manifest has what was patched, and that of a version is its own") {
    api.add_application(application_package("candy", "instance-type: a2.3\ntags: [sweet]\n"));
    api.succeed(api.call(Method::patch, "/1.0/applications/candy",
                         R"({"instance-type":"a4.3","tags":["sour"],"resources":{"memory":"1GB"}})"));
    const auto has = [&](const std::string& path, const std::string& text) {
        return api.get("/1.0/applications/candy" + path).text.find(text) != std::string::npos;
    };
    for (const char* now : {"instance-type: a4.3\n", "- sour\n", "memory: 1GB\n"})
        CHECK(has("/manifest", now));
    CHECK(has("/0/manifest", "instance-type: a2.3\n"));
    CHECK(has("/0/manifest", "- sweet\n"));
}

TEST_CASE_METHOD(ApplicationSetup, "an exported version can be added as an image") {
    api.add_application(application_package("candy"));
    const ApiReply archive = api.get("/1.0/applications/candy/0");
    CHECK(archive.status == 200);
    CHECK(archive.headers.get("Content-Type") == "application/octet-stream");
    CHECK(archive.headers.get("Content-Disposition") == "attachment; filename=\"candy-0.tar.gz\"");
    CHECK(archive.headers.get("Content-Length") == std::to_string(archive.text.size()));
    CHECK(archive.headers.get("X-SVC-Fingerprint") == sha256_hex(archive.text));
    CHECK(archive.headers.get("X-SVC-ManifestSha256") ==
          api.get("/1.0/applications/candy/0/manifest").headers.get("X-SVC-ManifestSha256"));
    CHECK(api.get("/1.0/applications/candy/0").text == archive.text);
    api.add_image("copy", archive.text);
    api.launch("copy");
    CHECK(api.get("/1.0/applications/candy/9").status == 404);
}

TEST_CASE_METHOD(ApplicationSetup, "a version is exported by zstd where that is asked for") {
    api.add_application(application_package("candy"));
    const std::string gzip = api.get("/1.0/applications/candy/0").text;
    const ApiReply archive = api.get("/1.0/applications/candy/0?compression=zstd");
    CHECK(archive.headers.get("Content-Disposition") == "attachment; filename=\"candy-0.tar.zst\"");
    CHECK(archive.headers.get("Content-Length") == std::to_string(archive.text.size()));
    CHECK(archive.headers.get("X-SVC-Fingerprint") == sha256_hex(archive.text));
    CHECK(archive.text.starts_with("\x28\xB5\x2F\xFD"));
    CHECK(api.get("/1.0/applications/candy/0?compression=gzip").text == gzip);
    api.add_image("copy", archive.text);
    api.launch("copy");
    const ApiReply unknown = api.get("/1.0/applications/candy/0?compression=rar");
    CHECK(unknown.status == 400);
    CHECK(unknown.error() == "argument compression is invalid: 'rar' is not one of gzip, zstd");
}

TEST_CASE_METHOD(ApplicationSetup, "applications and versions are deleted") {
    api.add_application(application_package("candy"));
    api.succeed(update("candy", application_package("candy", "version: two\n")));
    api.settle();
    const Json operation = api.succeed(api.remove("/1.0/applications/candy/0", R"({"force":true})"));
    CHECK(operation.at("resources").at("applications").as_array().size() == 2);
    CHECK(record("candy").at("versions").as_array().size() == 1);
    CHECK(api.remove("/1.0/applications/candy/0").status == 404);
    api.succeed(api.remove("/1.0/applications/candy", R"({"force":true})"));
    CHECK(api.get("/1.0/applications/candy").error() == "application not found");
    CHECK(api.remove("/1.0/applications/candy").status == 404);
}

TEST_CASE_METHOD(ApplicationSetup, "several applications are deleted at once") {
    const std::string first = api.add_application(application_package("candy"));
    const std::string second = api.add_application(application_package("soda"));
    const auto remove = [&](const Json& body) { return api.remove("/1.0/applications", body.dump()); };
    CHECK(remove(Json::object({{"ids", Json::array({first, "nothing"})}})).status == 404);
    CHECK(remove(Json::object({{"ids", JsonArray{}}})).error() == "ids is required");
    CHECK(remove(Json::object({{"ids", "x"}})).status == 400);
    const Json operation =
        api.succeed(remove(Json::object({{"ids", Json::array({first, second})}, {"force", true}})));
    CHECK(operation.at("resources").at("applications") ==
          Json::array({"/1.0/applications/" + first, "/1.0/applications/" + second}));
    CHECK(api.get("/1.0/applications").metadata() == Json::array());
}

TEST_CASE_METHOD(ApplicationSetup, "applications are filtered and paged") {
    api.add_application(application_package("candy", "tags: [game, sweet]\ninstance-type: a4.3\n"));
    api.add_application(application_package("soda", "tags: [sweet]\nboot-package: com.foo.soda\n"));
    api.add_application(application_package("tea"));
    CHECK(names("") == Json::array({"candy", "soda", "tea"}));
    CHECK(names("name=candy,tea") == Json::array({"candy", "tea"}));
    CHECK(names("tags=sweet") == Json::array({"candy", "soda"}));
    CHECK(names("tags=sweet,game") == Json::array({"candy"}));
    CHECK(names("instance_type=a4.3&published=true") == Json::array({"candy"}));
    CHECK(names("boot_package=com.foo.soda") == Json::array({"soda"}));
    CHECK(names("status=ready&immutable=false&abi=x86_64") == Json::array({"candy", "soda", "tea"}));
    for (const char* none : {"inhibit_auto_updates=true", "immutable=true", "published=false", "status=error",
                             "abi=x86", "addons=ssh", "id=candy"})
        CHECK(names(none) == Json::array());
    CHECK(names("id=" + record("candy").at("id").as_string()) == Json::array({"candy"}));
    api.add_addon("ssh", addon_package());
    api.add_application(application_package("water", "addons: [ssh]\n"));
    CHECK(names("addons=ssh") == Json::array({"water"}));
    api.succeed(api.remove("/1.0/applications/water", R"({"force":true})"));
    CHECK(names("colour=green") == Json::array({"candy", "soda", "tea"}));  // no filter of ours
    CHECK(names("limit=2") == Json::array({"candy", "soda"}));
    CHECK(names("offset=2&limit=-1") == Json::array({"tea"}));
    CHECK(api.get("/1.0/applications?tags=sweet&limit=1").json().at("total_size") == Json(2));
    CHECK(api.get("/1.0/applications?offset=9").metadata() == Json::array());
    CHECK(api.get("/1.0/applications").json().find("total_size") == nullptr);
    for (const char* query : {"limit=-2", "offset=-1", "limit=x", "published=maybe"})
        CHECK(api.get(std::string("/1.0/applications?") + query).status == 400);
}

TEST_CASE_METHOD(ApplicationSetup, "a filter by what nothing can be is refused") {
    const auto refusal = [&](const std::string& query) {
        const ApiReply reply = api.get("/1.0/" + query);
        CHECK(reply.status == 400);
        return reply.error();
    };
    CHECK(refusal("applications?status=dancing") ==
          "argument status is invalid: 'dancing' is not one of error, unknown, initializing, ready, deleted");
    CHECK(refusal("applications?immutable=maybe") ==
          "argument immutable is invalid: 'maybe' is not one of true, false");
    CHECK(refusal("applications?abi=mips") ==
          "argument abi is invalid: 'mips' is not one of x86, x86_64, armeabi, armeabi-v7a, arm64-v8a");
    CHECK(refusal("applications?instance_type=a2.3,z9")
              .starts_with("argument instance_type is invalid: 'z9' is not one of a2.3, a4.3,"));
    for (const std::string word : {"containers", "instances"}) {
        CHECK(
            refusal(word + "?status=running,dancing") ==
            "argument status is invalid: 'dancing' is not one of error, unknown, created, prepared, started, "
            "running, stopped, deleted");
        CHECK(refusal(word + "?type=vm") ==
              "argument type is invalid: 'vm' is not one of regular, base, unknown");
        CHECK(refusal(word + "?app_version=three") ==
              "argument app_version is invalid: 'three' is not a number from 0 on");
        CHECK(refusal(word + "?image_version=-1") ==
              "argument image_version is invalid: '-1' is not a number from 0 on");
        CHECK(refusal(word + "?node=elsewhere") ==
              "argument node is invalid: 'elsewhere' is not one of node0");
        CHECK(refusal(word + "?base=1") == "argument base is invalid: '1' is not one of true, false");
    }
}

TEST_CASE_METHOD(ApplicationSetup, "base instances are told from the others") {
    api.launch("base");
    const ApiReply accepted =  // its bootstrap fails, which leaves its base instance
        api.upload(Method::post, "/1.0/applications", "",
                   application_package("broken", "image: base\nresources: {cpus: 100000}\n"));
    CHECK(accepted.status == 202);
    api.settle();
    const auto types = [&](const std::string& query) {
        std::string found;
        const Json records = api.get("/1.0/containers?recursion=1&" + query).metadata();
        for (const Json& record : records.as_array()) found += record.at("type").as_string() + " ";
        return found;
    };
    CHECK(types("base=true") == "base ");
    CHECK(types("base=false") == "regular ");
    CHECK(types("base=true&type=regular").empty());
}

TEST_CASE_METHOD(ApplicationSetup, "instances of an application are counted and filtered") {
    const std::string id = api.add_application(application_package("candy"));
    api.succeed(api.post("/1.0/containers",
                         Json::object({{"app_id", "candy"}, {"tags", Json::array({"blue", "round"})}})));
    api.launch("base");
    const auto count = [&](const std::string& query) {
        return api.get("/1.0/containers?" + query).metadata().as_array().size();
    };
    CHECK(count("") == 2);
    CHECK(count("app_name=candy") == 1);
    CHECK(count("app_id=" + id + "&app_version=0") == 1);
    CHECK(count("image_id=" + image + "&status=running,stopped&node=node0&type=regular") == 2);
    for (const std::string& none :
         {std::string("status=stopped"), std::string("app_version=1"), std::string("image_version=1"),
          "app_id=" + image, "image_id=" + id, std::string("name=candy"), std::string("app_name=base")})
        CHECK(count(none) == 0);
    CHECK(count("image_version=0&image_id=" + image) == 2);
    const Json url = api.get("/1.0/containers?app_name=candy").metadata().as_array().at(0);
    const std::string instance = url.as_string().substr(url.as_string().rfind('/') + 1);
    for (const char* key : {"id=", "name=svc-"})
        CHECK(api.get("/1.0/containers?" + (key + instance)).metadata() == Json::array({url}));
    CHECK(count("tags=round,blue") == 1);
    CHECK(count("tags=blue,red") == 0);
    const std::string text = ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text;
    CHECK(text.find("\nsvc_cluster_applications_total 1\n") != std::string::npos);
    CHECK(text.find("svc_cluster_containers_per_application_total{application=\"candy\"} 1\n") !=
          std::string::npos);
}

}  // namespace svc::test

// What the query of a list changes, for the lists that have no filters.
#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_certificates.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// Of two objects, or one, of each kind.
struct Lists {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string snapshots;

    Lists() {
        for (const char* name : {"one", "two"}) {
            const KeyPair keys = make_key_pair(daemon.path(), name);
            const Json certificate = Json::object({{"certificate", read_file(keys.certificate)}});
            REQUIRE(api.post("/1.0/certificates", certificate).status == 200);
            REQUIRE(api.post("/1.0/certificates/tokens", Json::object({{"name", name}})).status == 200);
            api.add_addon(name, addon_package(name));
        }
        add_snapshots();
    }
    void add_snapshots() {
        api.add_image("base", image_package());
        const std::string url = "/1.0/instances/" + api.launch("base", "instances");
        api.succeed(api.patch(url, Json::object({{"desired_status", "stopped"}})));
        snapshots = url + "/snapshots";
        for (const char* name : {"one", "two"})
            api.succeed(api.post(snapshots, Json::object({{"name", name}})));
    }
    JsonArray items(const std::string& list, const std::string& query) {
        return api.get(list + "?" + query).metadata().as_array();
    }
};

}  // namespace

TEST_CASE_METHOD(Lists, "every list is told in records and in pages") {
    for (const std::string& list : {std::string("/1.0/certificates"), std::string("/1.0/certificates/tokens"),
                                    std::string("/1.0/addons"), std::string("/1.0/nodes"), snapshots}) {
        INFO(list);
        const JsonArray urls = items(list, "");
        const JsonArray records = items(list, "recursion=1");
        REQUIRE(urls.size() == (list == "/1.0/nodes" ? 1 : 2));
        REQUIRE(records.size() == urls.size());
        if (list == "/1.0/certificates/tokens")  // which have no URL
            CHECK(urls == records);
        else
            CHECK(records.back() == api.get(urls.back().as_string()).metadata());
        const std::string last = "offset=" + std::to_string(urls.size() - 1);
        CHECK(items(list, "limit=1") == JsonArray{urls.front()});
        CHECK(items(list, last) == JsonArray{urls.back()});
        CHECK(items(list, "recursion=1&" + last) == JsonArray{records.back()});
        CHECK(items(list, "offset=2").empty());
        CHECK(api.get(list + "?limit=1").json().at("total_size") == Json(urls.size()));
        CHECK(api.get(list).json().find("total_size") == nullptr);
        for (const char* wrong : {"recursion=2", "offset=-1", "limit=x"})
            CHECK(api.get(list + "?" + wrong).status == 400);
    }
}

}  // namespace svc::test

// Stored records that cannot be read: the daemon starts, serves the others, and keeps what it cannot read.
#include <catch2/catch.hpp>

#include "libsvc/store/sqlite/sqlite_store.h"
#include "libsvc/store/sqlite/statement.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// One object of each noun, and another one that stays whole.
struct Damaged {
    TestDaemon daemon;
    ApiCaller* api = &daemon.api();
    std::string token_id;

    Damaged() {
        api->add_image("base", image_package());
        api->add_image("other", image_package());
        for (const char* name : {"ssh", "ftp"}) api->add_addon(name, addon_package());
        for (const char* name : {"candy", "cake"}) api->add_application(application_package(name));
        stopped_with_snapshot();
        api->launch("other", "instances");
        const KeyPair keys = make_key_pair(daemon.path(), "client");
        daemon.trust(keys);
        api->post("/1.0/certificates/tokens", Json::object({{"name", "laptop"}}));
        api->set("core.trust_password", "sesame");
        api->settle();
    }
    void stopped_with_snapshot() {
        const std::string id = api->launch("base", "instances");
        api->succeed(api->patch("/1.0/instances/" + id, Json::object({{"desired_status", "stopped"}})));
        api->succeed(api->post("/1.0/instances/" + id + "/snapshots", Json::object()));
    }
    std::filesystem::path database() const { return daemon.path() / "state" / "svc.db"; }

    // The first record of each kind, and all nodes.
    std::vector<std::string> chosen() const {
        SqliteStore store(database());
        std::vector<std::string> keys;
        for (const char* prefix : {"addons/", "applications/", "certificates/", "config/", "images/",
                                   "instances/", "join_tokens/", "nodes/", "operations/", "snapshots/"}) {
            const auto entries = store.list(prefix);
            REQUIRE_FALSE(entries.empty());
            keys.push_back(entries.front().key);
        }
        return keys;
    }
    void damage(const std::vector<std::string>& keys, const std::string& value) {
        SqliteStore store(database());
        Batch batch;
        for (const std::string& key : keys) batch.put(key, value);
        store.commit(batch);
    }
    void inflate(const std::vector<std::string>& keys) {
        SqliteConnection connection(database());
        SqliteStatement statement(connection, "UPDATE entries SET value = zeroblob(2000000) WHERE key = ?1");
        for (const std::string& key : keys) statement.bind(1, key).run();
    }
    std::map<std::string, std::string> stored(const std::vector<std::string>& keys) const {
        SqliteStore store(database());
        std::map<std::string, std::string> values;
        for (const std::string& key : keys)
            if (const auto entry = store.get(key)) values[key] = entry->value;
        return values;
    }
    std::size_t count(const std::string& path) { return api->get(path).metadata().as_array().size(); }
};

std::string url_of(const std::string& key, const std::string& instance) {
    if (key.starts_with("snapshots/")) return "/1.0/instances/" + instance + "/" + key;
    if (key.starts_with("join_tokens/")) return "/1.0/certificates/tokens/" + key.substr(12);
    return "/1.0/" + key;
}

std::string noun_of(const std::string& key) {
    if (key.starts_with("instances/")) return "container";
    return key.substr(0, key.find('/') - 1);
}

const std::vector<std::string> values{"",
                                      "{",
                                      R"({"schema":1,"id":"x","name":"y)",
                                      "[1]",
                                      R"({"schema":99})",
                                      R"({"schema":"1","id":7,"name":[],"versions":{},"status":true})",
                                      std::string(64, '\0')};

}  // namespace

TEST_CASE_METHOD(Damaged, "whatever a record of each kind has become, the daemon starts and keeps it") {
    daemon.stop();
    const auto keys = chosen();
    const auto whole = stored(keys);
    for (const std::string& value : values) {
        CAPTURE(value);
        daemon.stop();
        for (const auto& [key, before] : whole) damage({key}, before);
        damage(keys, value);
        daemon.restart();
        api = &daemon.api();
        CHECK(count("/1.0/images") == 1);
        CHECK(count("/1.0/addons") == 1);
        CHECK(count("/1.0/applications") == 1);
        CHECK(count("/1.0/certificates") == 0);
        CHECK(count("/1.0/nodes") == 1);  // made anew: nothing could be launched without it
        const std::string image =
            api->get("/1.0/images?recursion=1").metadata().as_array()[0].at("name").as_string();
        const std::string launched = api->launch(image, "instances");
        api->succeed(api->remove("/1.0/instances/" + launched));
        for (const std::string& key : keys) {
            if (key.starts_with("nodes/") || key.starts_with("config/")) continue;
            const ApiReply reply = api->get(url_of(key, "x"));
            CAPTURE(key);
            if (key.starts_with("join_tokens/")) continue;  // has no GET
            CHECK(reply.status == 500);
            CHECK(reply.error().starts_with(noun_of(key) + " cannot be read: "));
        }
        daemon.stop();
        for (const auto& [key, now] : stored(keys)) {
            CAPTURE(key);
            if (!key.starts_with("nodes/")) CHECK(now == value);
        }
        CHECK(stored({"unreadable/" + keys[7]})["unreadable/" + keys[7]] == value);
    }
}

TEST_CASE_METHOD(Damaged, "an object whose record cannot be read can be deleted, and its name is free then") {
    daemon.stop();
    const auto keys = chosen();
    SECTION("damaged") {
        damage(keys, "{");
    }
    SECTION("larger than any record") {
        inflate(keys);
    }
    daemon.restart();
    api = &daemon.api();
    const std::string refused =
        api->upload(Method::post, "/1.0/addons", R"({"name":"ftp"})", addon_package()).error();
    CHECK(refused == "addon already exists");
    for (const std::string& key : keys) {
        if (key.starts_with("nodes/") || key.starts_with("config/")) continue;
        CAPTURE(key);
        const std::string url = url_of(key, "x");
        CHECK(api->succeed(api->remove(url)).at("err") == Json(""));
        if (!key.starts_with("join_tokens/")) CHECK(api->get(url).status == 404);
    }
    api->set("core.trust_password", "sesame");
    api->add_addon("ftp", addon_package());
    daemon.restart();
    api = &daemon.api();
    CHECK(count("/1.0/addons") == 2);
    CHECK(api->get("/1.0/config").metadata().at("config").at("core.trust_password") == Json(true));
}

TEST_CASE_METHOD(Damaged, "no package or layer is removed while a record that may need it cannot be read") {
    const auto blobs = [&] {
        std::size_t files = 0;
        for (const auto& file : std::filesystem::recursive_directory_iterator(daemon.path() / "state/blobs"))
            files += file.is_regular_file() ? 1 : 0;
        return files;
    };
    daemon.stop();
    const std::size_t before = blobs();
    const auto keys = chosen();
    damage({keys[0], keys[1], keys[4]}, "{");
    daemon.restart();
    api = &daemon.api();
    api->settle();
    CHECK(blobs() == before);
}

}  // namespace svc::test

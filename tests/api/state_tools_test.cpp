// svcd check and svcd recover: what they find in a state directory, and what they mend.
#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/state/check.h"
#include "server/state/recover.h"
#include "tests/support/application_package.h"
#include "tests/support/daemon_process.h"
#include "tests/support/error_code.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

using server::StatePaths;
using namespace server::state;
namespace fs = std::filesystem;

struct StateSetup {
    TestDaemon daemon;
    ApiCaller* api = &daemon.api();
    StatePaths paths{daemon.path() / "state"};
    std::string image = api->add_image("base", image_package());
    std::string instance;

    StateSetup() {
        api->add_addon("ssh", addon_package());
        api->add_application(application_package("candy"));
        instance = api->launch("base", "instances");
        api->settle();
    }
    Findings check() const { return check_state(paths, {"simulated", true}); }
    Findings recover() { return recover_state(paths, {"simulated"}); }
    void restart() {
        daemon.restart();
        api = &daemon.api();
    }
    std::string served() {
        Json all = Json::array();
        for (const char* noun : {"images", "addons", "applications"})
            all.push_back(api->get("/1.0/" + std::string(noun) + "?recursion=1").metadata());
        return all.dump();
    }
    fs::path blob() const {
        for (const auto& file : fs::recursive_directory_iterator(paths.blobs()))
            if (file.is_regular_file()) return file.path();
        return {};
    }
    std::string quarantined(const std::string& name) const {
        for (const auto& file : fs::recursive_directory_iterator(paths.root() / "quarantine"))
            if (file.path().filename() == name) return read_file(file.path());
        return "<none>";
    }
    void put(const std::string& key, const std::string& value) const {
        SqliteStore(paths.database()).commit(Batch().put(key, value));
    }
};

bool tells(const Findings& findings, Severity severity, const std::string& text) {
    return std::ranges::any_of(findings.all(), [&](const Finding& each) {
        return each.severity == severity &&
               (each.object + ": " + each.problem + "; " + each.advice).find(text) != std::string::npos;
    });
}

void overwrite(const fs::path& file, std::uint64_t at, const std::string& bytes) {
    const FileDescriptor opened = open_file(file, O_WRONLY);
    REQUIRE(::pwrite(opened.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace

TEST_CASE_METHOD(StateSetup,
                 "nothing is wrong with the state of a daemon that works, nor of one that has ended") {
    INFO(check().to_lines());
    CHECK(check().clean());
    CHECK(tells(check(), Severity::note, "svcd uses it"));
    daemon.stop();
    INFO(check().to_lines());
    CHECK(check().clean());
    CHECK(check().all().empty());
    const auto before = read_file(paths.database());
    check();
    CHECK(read_file(paths.database()) == before);
}

TEST_CASE_METHOD(StateSetup, "check names what is missing, damaged, or led to by nothing") {
    daemon.stop();
    SECTION("a record") {
        put("images/" + image, "{");
        CHECK(tells(check(), Severity::error, "record images/" + image + ": stored record"));
    }
    SECTION("a record of a newer version") {
        put("nodes/other", R"({"schema":99})");
        CHECK(tells(check(), Severity::error, "record nodes/other: "));
    }
    SECTION("a name") {
        put("names/images/ghost", "nobody");
        CHECK(tells(check(), Severity::error, "names/images/ghost: keeps a name that nothing has"));
        CHECK(tells(recover(), Severity::warning, "names/images/ghost: led nowhere"));
        CHECK(check().clean());
    }
    SECTION("a package that is missing") {
        fs::remove(blob());
        CHECK(tells(check(), Severity::error, "is missing; it is needed by "));
    }
    SECTION("a package with other content") {
        const fs::path file = blob();
        overwrite(file, 5, "xyz");
        CHECK(tells(check(), Severity::error, "its content is not what its name says"));
        CHECK(check_state(paths, {"simulated", false}).clean());
        CHECK(tells(recover(), Severity::error, "taken out"));
        CHECK(quarantined(file.filename()).substr(5, 3) == "xyz");
        CHECK_FALSE(fs::exists(file));
    }
    SECTION("a package that nothing needs") {
        const std::string digest(64, 'a');
        fs::create_directories(paths.blobs() / "aa");
        write_file_atomically(paths.blobs() / "aa" / digest, "?");
        CHECK(tells(check(), Severity::note, "no record refers to it"));
    }
    SECTION("the secret of the tokens") {
        write_file_atomically(paths.token_secret(), "short");
        CHECK(tells(check(), Severity::error, "tokens.key: damaged"));
        CHECK(tells(recover(), Severity::error, "tokens.key"));
        CHECK(quarantined("tokens.key") == "short");
        restart();
        CHECK(read_file(paths.token_secret()).size() == 64);
    }
    SECTION("the server's key") {
        write_file_atomically(paths.server_keys().key, "");
        CHECK(tells(check(), Severity::error, "server certificate"));
        CHECK(tells(recover(), Severity::error, "server certificate"));
        restart();
        CHECK(check().clean());
    }
    SECTION("a key that others may read") {
        REQUIRE(::chmod(paths.server_keys().key.c_str(), 0644) == 0);
        CHECK(tells(check(), Severity::error, "others may read the key"));
    }
    SECTION("a folder that others may use") {
        REQUIRE(::chmod(paths.blobs().c_str(), 0777) == 0);
        CHECK(tells(check(), Severity::warning, "blobs: others may use the folder"));
        restart();
        CHECK(check().clean());
    }
    SECTION("a file of somebody else") {
        write_file_atomically(paths.root() / "notes.txt", "");
        CHECK(tells(check(), Severity::note, "notes.txt: is not of svcd"));
    }
}

TEST_CASE_METHOD(StateSetup,
                 "a broken record is taken out of the database and kept, and what it needs with it") {
    const std::string before = served();
    daemon.stop();
    put("addons/ssh", "{");
    const Findings found = recover();
    INFO(found.to_lines());
    CHECK(tells(found, Severity::error, "record addons/ssh"));
    CHECK(tells(found, Severity::warning, "no record refers to it any more; taken out"));
    CHECK(quarantined("addons_ssh") == "{");
    CHECK(check().clean());
    restart();
    CHECK(api->get("/1.0/addons/ssh").status == 404);
    api->add_addon("ssh", addon_package());
    CHECK(api->get("/1.0/images/base").status == 200);
}

TEST_CASE_METHOD(StateSetup, "a database that recover has nothing to do with is left as it is") {
    daemon.stop();
    const auto before = read_file(paths.database());
    CHECK(recover().all().empty());
    CHECK(read_file(paths.database()) == before);
    CHECK_FALSE(fs::exists(paths.root() / "quarantine"));
}

TEST_CASE_METHOD(StateSetup,
                 "what can be read of a damaged database is saved, and the rest is kept beside it") {
    for (int i = 0; i < 60; ++i) {
        Json value =
            Json::object({{"name", "images.url"}, {"value", "https://example.org/" + std::to_string(i)}});
        api->set("images.url", value.at("value").as_string());
    }
    const std::string before = served();
    daemon.stop();
    const std::string whole = read_file(paths.database());
    REQUIRE(whole.size() > 6 * 4096);
    SECTION("pages in the middle") {
        overwrite(paths.database(), 3 * 4096, std::string(4096, '\xff'));
    }
    SECTION("the beginning of the file") {
        overwrite(paths.database(), 0, std::string(200, '\0'));
        const Findings found = recover();
        INFO(found.to_lines());
        CHECK(tells(found, Severity::error, "svc.db: damaged"));
        restart();
        CHECK(served() == before);
        return;
    }
    SECTION("the end") {
        fs::resize_file(paths.database(), whole.size() - 4096 * 2 - 100);
    }
    const std::string damaged = read_file(paths.database());
    CHECK(tells(check(), Severity::error, "svc.db: "));
    const Findings found = recover();
    INFO(found.to_lines());
    CHECK(tells(found, Severity::error, "svc.db: damaged"));
    CHECK(quarantined("svc.db") == damaged);
    const Findings after = check();
    INFO(after.to_lines());
    CHECK_FALSE(tells(after, Severity::error, "svc.db"));
    restart();
    CHECK(api->get("/1.0").status == 200);
}

TEST_CASE_METHOD(StateSetup,
                 "a state directory that svcd uses is not mended, and a newer one is not touched") {
    CHECK(code_of([&] { recover(); }) == ErrorCode::busy);
    daemon.stop();
    SqliteConnection(paths.database()).execute("PRAGMA user_version = 2");
    CHECK(code_of([&] { recover(); }) == ErrorCode::unsupported);
    CHECK(code_of([&] { check(); }) == ErrorCode::unsupported);
    CHECK(code_of([&] { restart(); }) == ErrorCode::unsupported);
}

TEST_CASE_METHOD(StateSetup,
                 "a recover that was interrupted loses nothing that only the write-ahead log had") {
    daemon.stop();
    const fs::path kept = paths.root() / "quarantine" / "then";
    make_directories(kept);
    {
        SqliteStore store(paths.database());
        store.commit(Batch().put("names/images/late", "only in the log"));
        REQUIRE(fs::file_size(paths.database().native() + "-wal") > 0);
        for (const char* name : {"svc.db", "svc.db-wal"}) fs::copy(paths.root() / name, kept / name);
    }
    write_file_atomically(paths.recovering(), "quarantine/then\n");
    SECTION("before the new database was there") {}
    SECTION("after it, with the old log beside it") {
        fs::remove(paths.database());
        { SqliteStore replaced(paths.database()); }
        fs::copy(kept / "svc.db-wal", paths.database().native() + "-wal");
    }
    CHECK(message_of([&] { restart(); }) == "svcd recover was interrupted: run svcd recover again");
    CHECK(tells(check(), Severity::error, "run svcd recover again"));
    const Findings found = recover();
    INFO(found.to_lines());
    CHECK(tells(found, Severity::warning, "begun again with the old database"));
    CHECK(tells(found, Severity::warning, "names/images/late: led nowhere"));
    CHECK(check().clean());
    restart();
    CHECK(api->get("/1.0/images/base").status == 200);
    CHECK(api->get("/1.0/instances/" + instance).status == 200);
}

TEST_CASE_METHOD(StateSetup, "the programs tell by their exit status and in two formats") {
    daemon.stop();
    const std::vector<std::string> where{"--state-dir", paths.root(), "--runtime", "simulated"};
    const auto run = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), where.begin(), where.end());
        return run_svcd(arguments);
    };
    CHECK(run({"check"}).status == 0);
    put("addons/ssh", "{");
    const DaemonRun found = run({"check"});
    CHECK(found.status == 1);
    CHECK(found.output.starts_with("error: record addons/ssh: "));
    const DaemonRun json = run({"check", "--format", "json", "--quick"});
    CHECK(Json::parse(json.output).as_array().at(0).at("object") == Json("record addons/ssh"));
    CHECK(run({"check", "--format", "xml"}).status == 2);
    CHECK(run({"check", "--nonsense"}).status == 2);
    CHECK(run({"recover"}).status == 0);
    CHECK(run({"check"}).status == 0);
    CHECK(run_svcd({"check", "--state-dir", daemon.path() / "none"}).status == 1);
}

}  // namespace svc::test

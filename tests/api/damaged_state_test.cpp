// Files of the state directory that are damaged, missing or senseless: the daemon starts, or says which file
// it is.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/daemon_process.h"
#include "tests/support/error_code.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

namespace fs = std::filesystem;

struct StoppedDaemon {
    TestDaemon daemon;
    fs::path state = daemon.path() / "state";

    StoppedDaemon() {
        daemon.api().add_image("base", image_package());
        daemon.api().launch("base", "instances");
        daemon.api().settle();
        daemon.stop();
    }
    std::string image() const { return SqliteStore(state / "svc.db").list("images/").at(0).key.substr(7); }
    void put(const std::string& key, const std::string& value) const {
        SqliteStore(state / "svc.db").commit(Batch().put(key, value));
    }
    void check_serves() {
        daemon.restart();
        CHECK(daemon.api().get("/1.0/images/base").status == 200);
        daemon.api().launch("base", "instances");
    }
    std::string refusal() {
        return message_of([&] { daemon.restart(); });
    }
};

}  // namespace

TEST_CASE_METHOD(StoppedDaemon,
                 "a socket that a killed start has left half made is removed by the next start") {
    const fs::path left = state / "agent" / "server.unix.1234-2";
    write_file_atomically(left, "");
    check_serves();
    CHECK(!fs::exists(left));
}

TEST_CASE_METHOD(StoppedDaemon, "files that can be made again keep no daemon from starting") {
    for (const char* row : {"events", "audit-events"}) {
        DYNAMIC_SECTION(row) {
            std::vector<fs::path> files;
            for (const auto& file : fs::directory_iterator(state / row)) files.push_back(file.path());
            REQUIRE(files.size() >= 2);
            for (const fs::path& file : files)
                write_file_atomically(file, std::string("\0\xff{garbage\n", 11));
            write_file_atomically(state / row / "00000000000000000007.events", std::string(5000, '\n'));
            write_file_atomically(state / row / "99999999999999999999.events", "x\n");
        }
        DYNAMIC_SECTION("no " << row) {
            fs::remove_all(state / row);
        }
    }
    SECTION("an empty log of the database") {
        write_file_atomically(state / "svc.db-wal", "");
    }
    SECTION("a log of something else") {
        write_file_atomically(state / "svc.db-wal", std::string(40000, 'x'));
    }
    SECTION("no folder of packages") {
        fs::remove_all(state / "blobs");
    }
    SECTION("no logs, no registry, no server certificate") {
        for (const char* folder : {"logs", "registry", "server"}) fs::remove_all(state / folder);
    }
    SECTION("folders with other modes") {
        for (const char* folder : {"blobs", "logs", "registry", "server"})
            REQUIRE(::chmod((state / folder).c_str(), 0) == 0);
    }
    SECTION("an uploaded package of before") {
        make_directories(state / "blobs/incoming");
        write_file_atomically(state / "blobs/incoming/half", "half");
    }
    SECTION("damaged keys for registries") {
        for (const char* file : {"client.crt", "client.key"})
            write_file_atomically(state / "registry" / file, "-----BEGIN");
    }
    check_serves();
}

TEST_CASE_METHOD(StoppedDaemon, "a damaged file that nothing can replace is named") {
    SECTION("the database is cut off") {
        fs::resize_file(state / "svc.db", fs::file_size(state / "svc.db") / 2 + 100);
        fs::remove(state / "svc.db-wal");
        CHECK(refusal().starts_with("state database svc.db is damaged: "));
    }
    SECTION("the database is something else") {
        write_file_atomically(state / "svc.db", std::string(8192, 'x'));
        CHECK(refusal().starts_with("state database svc.db is damaged: "));
    }
    SECTION("the secret of the tokens") {
        write_file_atomically(state / "tokens.key", "x");
        CHECK(refusal().starts_with("tokens.key is damaged"));
    }
    SECTION("the server's key") {
        write_file_atomically(state / "server" / "server.key", "x");
        CHECK(refusal().find("server.key") != std::string::npos);
    }
    SECTION("the server's certificate") {
        write_file_atomically(state / "server" / "server.crt", "");
        CHECK(refusal().find("server.crt") != std::string::npos);
    }
}

TEST_CASE_METHOD(StoppedDaemon, "svcd says which of its programs helps with a damaged state") {
    write_file_atomically(state / "svc.db", std::string(8192, 'x'));
    const DaemonRun run =
        run_svcd({"--runtime", "simulated", "--state-dir", state, "--socket", daemon.path() / "other.socket",
                  "--listen", "none", "--metrics-listen", "none", "--hypervisor-listen", "none"});
    CHECK(run.status == 1);
    CHECK(run.output.find("svcd recover mends what it can") != std::string::npos);
}

// Each can be decoded; what it says makes no sense.
TEST_CASE_METHOD(StoppedDaemon, "records that make no sense keep no daemon from starting") {
    SECTION("configuration") {
        put("config/images.update_interval",
            R"({"schema":1,"name":"images.update_interval","value":"soon"})");
        put("config/no.such.key", R"({"schema":1,"name":"no.such.key","value":"7"})");
        put("config/core.trust_password", R"({"schema":1,"name":"core.trust_password","value":"plain"})");
        put("config/scheduler.strategy", R"({"schema":1,"name":"scheduler.strategy","value":"none"})");
    }
    SECTION("operations") {
        SqliteStore store(state / "svc.db");
        const std::string whole = store.list("operations/").at(0).value;
        Json operation = Json::parse(whole);
        int number = 0;
        for (const char* kind :
             {"no.such.kind", "instance.launch", "instance.delete", "image.create", "record.remove"}) {
            const std::string id = "00000000-0000-4000-8000-00000000000" + std::to_string(number++);
            operation.set("id", id);
            operation.set("kind", kind);
            operation.set("status", 103);
            operation.set("arguments", number % 2 == 0 ? Json("x") : Json::object());
            store.commit(Batch().put("operations/" + id, operation.dump()));
        }
    }
    SECTION("a node in no network") {
        SqliteStore store(state / "svc.db");
        Json node = Json::parse(store.list("nodes/").at(0).value);
        node.set("name", "elsewhere");
        node.set("subnet", "nonsense");
        store.commit(Batch().put("nodes/elsewhere", node.dump()));
    }
    SECTION("an instance of what is not there") {
        SqliteStore store(state / "svc.db");
        const auto entry = store.list("instances/").at(0);
        Json instance = Json::parse(entry.value);
        instance.set("address", "999.1.2.3");
        instance.set("node", "nowhere");
        store.commit(Batch().put(entry.key, instance.dump()));
    }
    SECTION("an authority that is no certificate") {
        const std::string fingerprint(64, 'a');
        put("certificates/" + fingerprint,
            R"({"schema":1,"fingerprint":")" + fingerprint +
                R"(","certificate":"x","pem":"x","common_name":"x","name":"x","not_before":"2020-01-01T00:00:00Z",)"
                R"("not_after":"2090-01-01T00:00:00Z","is_authority":true,"added_at":"2020-01-01T00:00:00Z"})");
    }
    SECTION("names that lead nowhere, or to another object") {
        put("names/images/ghost", "nobody");
        put("names/images/base", "nobody");
    }
    check_serves();
}

TEST_CASE_METHOD(StoppedDaemon, "a second daemon on a state directory, and a newer one's, are refused") {
    daemon.restart();
    CHECK(message_of([&] {
              TestDaemon([&](server::Options& options) { options.state_dir = state; });
          }).ends_with("is in use by another svcd"));
}

}  // namespace svc::test

// The audit: which requests are in it, what it tells of them, and that nobody can fill the disk with it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/audit/audit_log.h"
#include "server/audit/refusal_budget.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

using namespace std::chrono_literals;

Json next_of(WebSocketClient& events) {
    return Json::parse(events.receive(long_wait)->data);
}

std::int64_t number_of(const Json& event) {
    return event.at("sequence").as_int();
}

struct AuditSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    ApiCaller guest{daemon.tls_target()};

    std::vector<Json> entries(const std::string& name = "audit.log") const {
        std::vector<Json> all;
        const auto file = daemon.options().state_dir / name;
        if (!std::filesystem::exists(file)) return all;
        for (const std::string& line : split(read_file(file), '\n'))
            if (!line.empty()) all.push_back(Json::parse(line));
        return all;
    }
    Json last() const {
        REQUIRE_FALSE(entries().empty());
        return entries().back();
    }
    std::vector<Json> of_strangers() const { return entries("audit.strangers.log"); }
    Json last_of_strangers() const {
        REQUIRE_FALSE(of_strangers().empty());
        return of_strangers().back();
    }
};

}  // namespace

TEST_CASE_METHOD(AuditSetup, "a change is in the audit, with who asked and what came of it") {
    const ApiReply changed =
        api.patch("/1.0/config", Json::object({{"name", "core.trust_password"}, {"value", "hush"}}));
    const Json entry = last();
    CHECK(entry.at("who") == Json("uid=" + std::to_string(getuid())));
    CHECK(entry.at("requestor") == entry.at("who"));
    CHECK(entry.at("role") == Json("admin"));
    CHECK(entry.at("address") == Json("local"));
    CHECK(entry.at("method") == Json("PATCH"));
    CHECK(entry.at("path") == Json("/1.0/config"));
    CHECK(entry.at("status") == Json(202));
    CHECK(entry.at("error") == Json(""));
    CHECK("/1.0/operations/" + entry.at("operation").as_string() == changed.operation());
    CHECK_FALSE(entry.at("request_id").as_string().empty());
    CHECK(entry.dump().find("hush") == std::string::npos);
}

TEST_CASE_METHOD(AuditSetup, "reads and reports are not in the audit") {
    api.get("/1.0/instances");
    api.get("/1.0/nothing");
    guest.get("/1.0/instances");
    Headers headers;
    headers.set("Authorization", "bearer wrong");
    ApiCaller(daemon.agent_target()).call(Method::patch, "/1.0/instances/x", "{}", headers);
    CHECK(entries().empty());
}

TEST_CASE_METHOD(AuditSetup, "what was refused, or is faulty, is in the audit with its error") {
    guest.post("/1.0/instances", Json::object());
    CHECK(last_of_strangers().at("who") == Json("guest"));
    CHECK(last_of_strangers().at("role") == Json(""));
    CHECK(last_of_strangers().at("address") == Json("127.0.0.1"));
    CHECK(last_of_strangers().at("status") == Json(403));
    CHECK(last_of_strangers().at("error") == Json("Not Authorized"));
    api.remove("/1.0/images/none?secret=hush");
    CHECK(last().at("path") == Json("/1.0/images/none"));
    CHECK(last().at("status") == Json(404));
    // A body over the limit. The connection is closed on it, perhaps before the reply is read.
    const auto send_too_much = [&] { api.call(Method::post, "/1.0/nodes", std::string(2U << 20U, ' ')); };
    (void)code_of(send_too_much);
    eventually("the refusal is in the audit", [&] { return entries().size() == 2; });
    CHECK(last().at("path") == Json("/1.0/nodes"));
    CHECK(last().at("status") == Json(400));
}

TEST_CASE_METHOD(AuditSetup, "a login is in the audit as that of its user, a wrong one as a stranger's") {
    guest.post("/1.0/sessions", Json::object({{"link", "guess"}}));
    CHECK(last_of_strangers().at("who") == Json("guest"));
    CHECK(last_of_strangers().at("status") == Json(403));
    guest.get("/1.0/oidc/callback/?state=guess");
    CHECK(last_of_strangers().at("path") == Json("/1.0/oidc/callback/"));
    const Json link =
        api.post("/1.0/sessions/links", Json::object({{"name", "alice"}, {"role", "viewer"}})).metadata();
    CHECK(last().dump().find(link.at("secret").as_string()) == std::string::npos);
    const ApiReply opened = guest.post("/1.0/sessions", Json::object({{"link", link.at("secret")}}));
    CHECK(last().at("who") == Json("alice"));
    CHECK(last().at("requestor") == Json("session=" + opened.metadata().at("id").as_string()));
    CHECK(last().at("role") == Json("viewer"));
    CHECK(last().at("path") == Json("/1.0/sessions"));
    CHECK(last().at("status") == Json(200));
    const std::string cookie = opened.headers.get("Set-Cookie");
    CHECK(last().dump().find(cookie.substr(cookie.find('=') + 1, 64)) == std::string::npos);
}

TEST_CASE_METHOD(AuditSetup, "strangers cannot fill the audit, nor push out what was done") {
    for (int i = 0; i < 50; ++i) guest.post("/1.0/instances", Json::object());
    for (int i = 0; i < 20; ++i) api.post("/1.0/instances", Json::object());
    const std::vector<Json> strangers = of_strangers();
    const auto refused =
        std::ranges::count_if(strangers, [](const Json& entry) { return entry.find("path") != nullptr; });
    CHECK(refused >= 10);
    CHECK(refused <= 20);  // on a machine on which this takes more than a minute
    const std::vector<Json> all = entries();
    CHECK(all.size() == 20);
    CHECK(std::ranges::all_of(all, [](const Json& entry) { return entry.at("role") == Json("admin"); }));
}

TEST_CASE_METHOD(AuditSetup, "a client that is no admin cannot push out the trail with refusals") {
    const KeyPair keys = make_key_pair(daemon.path(), "client");
    api.post("/1.0/certificates",
             Json::object({{"certificate", read_file(keys.certificate)}, {"role", "viewer"}}));
    ApiCaller viewer(daemon.tls_target(keys));
    for (int i = 0; i < 150; ++i) viewer.post("/1.0/instances", Json::object());
    const std::vector<Json> all = entries();
    const auto refused =
        std::ranges::count_if(all, [](const Json& entry) { return entry.at("status") == Json(403); });
    CHECK(refused >= 60);
    CHECK(refused <= 120);  // on a machine on which this takes more than a minute
    const std::string fingerprint = api.get("/1.0/certificates").metadata().as_array().at(0).as_string();
    CHECK("/1.0/certificates/" + all.back().at("requestor").as_string() == fingerprint);
}

TEST_CASE_METHOD(AuditSetup, "an entry is valid text, whatever the client has sent") {
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=audit");
    guest.call(Method::delete_, "/1.0/%FF", "");
    std::string controls = "/1.0/";
    for (int i = 0; i < 1000; ++i) controls += "%01";
    guest.call(Method::delete_, controls, "");
    CHECK(Json::parse(events.receive(long_wait)->data).at("metadata").at("path") == Json("/1.0/?"));
    CHECK(Json::parse(events.receive(long_wait)->data).at("metadata") == last_of_strangers());
    CHECK(last_of_strangers().at("path") == Json("/1.0/" + std::string(251, '?')));
}

TEST_CASE_METHOD(AuditSetup, "admins follow the audit, who ask for it by name") {
    WebSocketClient named(daemon.local_target(), "/1.0/events?type=audit");
    WebSocketClient all(daemon.local_target(), "/1.0/events?type=all");
    api.patch("/1.0/config", Json::object({{"name", "gpu.type"}, {"value", "none"}}));
    const auto message = named.receive(long_wait);
    REQUIRE(message);
    const Json event = Json::parse(message->data);
    CHECK(event.at("type") == Json("audit"));
    CHECK(event.at("metadata") == last());
    for (bool ended = false; !ended;) {
        const Json other = Json::parse(all.receive(long_wait)->data);
        CHECK(other.at("type") != Json("audit"));
        ended = other.at("type") == Json("operation") && other.at("metadata").at("status_code") == Json(200);
    }
    const KeyPair keys = make_key_pair(daemon.path(), "client");
    api.post("/1.0/certificates",
             Json::object({{"certificate", read_file(keys.certificate)}, {"role", "operator"}}));
    ApiCaller client(daemon.tls_target(keys));
    CHECK_THAT(client.get("/1.0/events?type=lifecycle,audit").error(),
               Catch::Contains("needs the role admin"));
    CHECK_NOTHROW(WebSocketClient(daemon.tls_target(keys), "/1.0/events"));
}

TEST_CASE_METHOD(AuditSetup, "an entry of the audit is no gap in the numbers of other events") {
    WebSocketClient events(daemon.local_target(), "/1.0/events");
    WebSocketClient audit(daemon.local_target(), "/1.0/events?type=audit");
    std::vector<std::int64_t> others, entries;
    for (const char* value : {"a", "b"}) {
        api.post("/1.0/nodes", Json::object());
        api.patch("/1.0/config", Json::object({{"name", "container.features"}, {"value", value}}));
        for (int i = 0; i < 2; ++i) entries.push_back(number_of(next_of(audit)));
        for (bool ended = false; !ended;) {
            const Json event = next_of(events);
            others.push_back(number_of(event));
            ended =
                event.at("type") == Json("operation") && event.at("metadata").at("status_code") == Json(200);
        }
    }
    CHECK(entries == std::vector<std::int64_t>{1, 2, 3, 4});
    for (std::size_t i = 1; i < others.size(); ++i) CHECK(others[i] == others[i - 1] + 1);
}

TEST_CASE_METHOD(AuditSetup, "the audit is followed by itself") {
    CHECK_THAT(api.get("/1.0/events?type=audit,lifecycle").error(), Catch::Contains("numbers of its own"));
    CHECK_THAT(api.get("/1.0/events?type=all,audit").error(), Catch::Contains("numbers of its own"));
}

TEST_CASE_METHOD(AuditSetup, "the audit goes on after a restart, and entries of before are read again") {
    api.post("/1.0/nodes", Json::object());
    daemon.restart();
    daemon.api().post("/1.0/nodes", Json::object());
    REQUIRE(entries().size() == 2);
    WebSocketClient kept(daemon.local_target(), "/1.0/events?type=audit&since=0");
    for (const Json& entry : entries()) CHECK(next_of(kept).at("metadata") == entry);
    WebSocketClient newer(daemon.local_target(), "/1.0/events?type=audit&since=1");
    CHECK(next_of(newer).at("metadata") == last());
}

TEST_CASE_METHOD(AuditSetup, "requests are served where the audit cannot be written") {
    std::filesystem::create_directory(daemon.options().state_dir / "audit.log");
    CHECK(api.patch("/1.0/config", Json::object({{"name", "gpu.type"}, {"value", "none"}})).status == 202);
    std::filesystem::remove(daemon.options().state_dir / "audit.log");
    CHECK(api.post("/1.0/nodes", Json::object()).status == 400);
    CHECK(entries().size() == 1);
}

TEST_CASE("the audit's file is replaced when it is full, and four older ones stay") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "svc-audit-");
    const auto file = directory.path() / "audit.log";
    constexpr std::uint64_t limit = 100;
    server::AuditLog log(file, limit);
    for (int i = 0; i < 60; ++i) log.write("{\"line\":" + std::to_string(10 + i) + "}");
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600);
    int newest = 69;
    for (const char* suffix : {"", ".1", ".2", ".3", ".4"}) {
        const std::string text = read_file(file.string() + suffix);
        CHECK(text.size() <= limit);
        const std::string last_line = "{\"line\":" + std::to_string(newest) + "}\n";
        CHECK(text.ends_with(last_line));
        newest -= static_cast<int>(std::ranges::count(text, '\n'));
    }
    CHECK_FALSE(std::filesystem::exists(file.string() + ".5"));
}

TEST_CASE("a line of the audit that was cut stays by itself") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "svc-audit-");
    const auto file = directory.path() / "audit.log";
    write_file_atomically(file, "{\"cut");
    server::AuditLog log(file);
    log.write("{}");
    CHECK(read_file(file) == "{\"cut\n{}\n");
}

TEST_CASE("refusals are counted by source and minute") {
    server::RefusalBudget budget(10, 600);
    const SteadyTime begin{1h};
    const auto taken = [&](const std::string& source, SteadyTime now, int count) {
        int sum = 0;
        for (int i = 0; i < count; ++i) sum += budget.take(source, now) ? 1 : 0;
        return sum;
    };
    CHECK(taken("a", begin, 12) == 10);
    CHECK(taken("b", begin + 59s, 1) == 1);
    CHECK(budget.left_out(begin + 59s) == 0);
    CHECK(budget.left_out(begin + 60s) == 2);
    CHECK(budget.left_out(begin + 60s) == 0);
    CHECK(taken("a", begin + 60s, 12) == 10);
    int of_all = 10;
    for (int i = 0; i < 1000; ++i) of_all += taken(std::to_string(i), begin + 61s, 1);
    CHECK(of_all == 600);
    CHECK(budget.left_out(begin + 120s) == 2 + 410);
}

TEST_CASE_METHOD(AuditSetup, "what the service deletes by itself is in the audit, a report of uses is not") {
    api.add_image("base", image_package());
    const std::string id = api.launch("base");
    const std::string url = "/1.0/instances/" + id;
    api.succeed(api.patch(url, Json::parse(R"({"expires_after": "1s"})")));
    eventually("it is told", [&] { return last().at("who") == Json("service"); });
    const Json entry = last();
    CHECK(entry.at("requestor") == Json("expired"));
    CHECK(entry.at("method") == Json("DELETE"));
    CHECK(entry.at("path") == Json(url));
    CHECK(api.get("/1.0/operations/" + entry.at("operation").as_string()).status == 200);
    const std::size_t told = entries().size();
    CHECK(api.post("/1.0/uses", Json::object({{"instances", Json::array({id})}})).status == 200);
    CHECK(entries().size() == told);
    CHECK(guest.post("/1.0/uses", Json::object({{"instances", Json::array({id})}})).status == 403);
    CHECK(last_of_strangers().at("path") == Json("/1.0/uses"));
}

}  // namespace svc::test

#include <catch2/catch.hpp>
#include <regex>

#include "libsvc/base/id.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/golden.h"

using namespace svc;
using namespace svc::test;

namespace {

struct InstanceCommandFixture : DaemonFixture {
    InstanceCommandFixture() { add_image("base"); }
    Json shown(const std::string& id) { return Json::parse(ask({"show", id, "-o", "json"})); }
};

// Which machine runs the test is not what is tested.
std::string comparable(const std::string& text, const std::string& node) {
    static const std::regex address("\\b[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+\\b");
    const std::string named =
        std::regex_replace(normalise_text(text), std::regex("\\b" + node + "\\b"), "<node>");
    return std::regex_replace(named, address, "<address>");
}

}  // namespace

TEST_CASE_METHOD(InstanceCommandFixture, "launch waits until the instance runs and prints its id") {
    const std::string id = ask({"launch", "base"});
    CHECK(is_object_id(id));
    CHECK(shown(id).at("status").as_string() == "running");
}

TEST_CASE_METHOD(InstanceCommandFixture, "an instance is shown in every format") {
    const std::string id = ask({"launch", "-r", "base", "-s", "+web:tcp:80", "--tags", "a,b"});
    const std::string node = shown(id).at("node").as_string();
    for (const std::string format : {"json", "yaml", "csv"}) {
        check_golden("cli/golden/list." + format, comparable(ask({"ls", "-o", format}) + "\n", node));
        check_golden("cli/golden/show." + format, comparable(ask({"show", id, "-o", format}) + "\n", node));
    }
    CHECK_THAT(ask({"list"}),
               Catch::Contains("| ID ") && Catch::Contains("| ENDPOINTS") && Catch::Contains(":80/tcp"));
}

TEST_CASE_METHOD(InstanceCommandFixture, "launch flags reach the instance") {
    const std::string id = ask({"launch", "base", "-c", "1", "-m", "1GB", "-d", "4GB", "--devmode", "-p",
                                "null", "-s", "udp:7000-7001"});
    const Json value = shown(id);
    CHECK(value.at("resources").at("cpus").as_int() == 1);
    CHECK(value.at("resources").at("memory").as_string() == "1GB");
    CHECK(value.at("resources").at("disk-size").as_string() == "4GB");
    CHECK(value.at("config").at("devmode").as_bool());
    CHECK(value.at("network").at("services").as_array().size() == 1);
}

TEST_CASE_METHOD(InstanceCommandFixture, "a named and protected instance goes after unprotect alone") {
    const std::string id = ask({"launch", "base", "--name", "web-1", "--protect"});
    CHECK(shown("web-1").at("id").as_string() == id);
    CHECK(shown(id).at("config").at("security").at("delete_protected").as_bool());
    CHECK_THAT(ask({"list"}), Catch::Contains("| NAME ") && Catch::Contains("| web-1 "));
    const CliRun refused = run({"delete", "web-1", "--force", "-y"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Catch::Contains("deleting protected container 'web-1' not allowed"));
    ask({"unprotect", "web-1"});
    ask({"protect", id});
    CHECK(run({"delete", id, "-y"}).status == 1);
    ask({"unprotect", id});
    ask({"delete", "web-1", "-y"});
    CHECK(ask({"list", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(InstanceCommandFixture,
                 "an instance that is to be deleted by itself shows when, and is extended") {
    const std::string id = ask({"launch", "base", "--expires-after", "2h", "--idle-after", "30m"});
    CHECK(shown(id).at("idle_after") == Json("30m"));
    const std::string end = shown(id).at("expires_at").as_string();
    CHECK(end.ends_with("Z"));
    CHECK(shown(id).at("used_at") == shown(id).at("created_at"));
    ask({"extend", id, "--expires-after", "4h"});
    CHECK(shown(id).at("expires_at").as_string() > end);
    CHECK(shown(id).at("idle_after") == Json("30m"));
    ask({"extend", id, "--expires-after", "never", "--idle-after", "never"});
    for (const char* field : {"expires_at", "idle_after", "used_at"}) CHECK(shown(id).find(field) == nullptr);
    const CliRun nothing = run({"extend", id});
    CHECK(nothing.status == 2);
    CHECK_THAT(nothing.err, Catch::Contains("--expires-after or --idle-after is missing"));
    const CliRun refused = run({"launch", "base", "--idle-after", "1s"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Catch::Contains("argument idle_after is invalid: must be from 1m to 87600h"));
}

TEST_CASE_METHOD(InstanceCommandFixture, "several instances are paused and resumed, others are refused") {
    const std::string first = ask({"launch", "base", "--name", "web-1"});
    const std::string second = ask({"launch", "base"});
    ask({"pause", "web-1", second});
    CHECK(shown(first).at("status") == Json("paused"));
    CHECK_THAT(ask({"list"}), Catch::Contains("| paused "));
    CHECK(ask({"list", "-f", "status=running", "-o", "json"}) == "[]");
    CHECK(run({"wait", first, "-c", "status=paused"}).status == 0);
    const CliRun again = run({"pause", first});
    CHECK(again.status == 1);
    CHECK_THAT(again.err, Catch::Contains("Already paused"));
    const CliRun command = run({"exec", first, "--", "true"});
    CHECK(command.status != 0);
    CHECK_THAT(command.err, Catch::Contains("exec in a container that is paused not allowed"));
    ask({"stop", second});
    const CliRun both = run({"resume", second, first});
    CHECK(both.status == 1);
    CHECK_THAT(both.err, Catch::Contains(second + ": resuming an instance that is stopped not allowed"));
    CHECK(shown(first).at("status") == Json("running"));
    CHECK(shown(second).at("status") == Json("stopped"));
    ask({"pause", first});
    ask({"start", first});
    CHECK(shown(first).at("status") == Json("running"));
}

TEST_CASE_METHOD(InstanceCommandFixture, "several instances are restarted, others are refused") {
    const std::string first = ask({"launch", "base", "--name", "web-1"});
    const std::string second = ask({"init", "base"});
    const CliRun both = run({"restart", second, "web-1"});
    CHECK(both.status == 1);
    CHECK_THAT(both.err, Catch::Contains(second + ": restarting a container that is prepared not allowed"));
    CHECK(shown(first).at("status") == Json("running"));
    CHECK(shown(second).at("status") == Json("prepared"));
    CHECK_THAT(ask({"operation", "list"}), Catch::Contains("Restarting container"));
}

TEST_CASE_METHOD(InstanceCommandFixture, "without an image the default one is launched") {
    CHECK(shown(ask({"launch"})).at("image").at("name").as_string() == "base");
}

TEST_CASE_METHOD(InstanceCommandFixture, "--no-wait prints the operation's id") {
    const std::string operation = ask({"launch", "base", "--no-wait"});
    CHECK(is_uuid(operation));
    CHECK(run({"wait", operation}).status == 0);
    CHECK_THAT(ask({"operation", "list"}), Catch::Contains(operation));
    CHECK(Json::parse(ask({"operation", "show", operation, "-o", "json"})).at("status").as_string() ==
          "Success");
}

TEST_CASE_METHOD(InstanceCommandFixture, "a prepared instance is started, waited for and stopped") {
    const std::string id = ask({"init", "base"});
    CHECK(shown(id).at("status").as_string() == "prepared");
    ask({"start", id});
    ask({"wait", id, "-c", "status=running"});
    ask({"stop", id});
    CHECK(shown(id).at("status").as_string() == "stopped");
    const CliRun late = run({"wait", id, "-c", "status=running", "-t", "1ms"});
    CHECK(late.status == 1);
    CHECK_THAT(late.err, Catch::Contains("timeout") && Catch::Contains("stopped"));
}

TEST_CASE_METHOD(InstanceCommandFixture, "several instances are deleted, those that fail are told") {
    const std::string one = ask({"launch", "base"}), two = ask({"launch", "base"});
    const CliRun done = run({"delete", one, "absent", two, "-y"});
    CHECK(done.status == 1);
    CHECK_THAT(done.err, Catch::Contains("Error: absent: "));
    CHECK(ask({"list", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(InstanceCommandFixture, "all instances are deleted after a yes") {
    ask({"launch", "base"});
    ask({"launch", "base"});
    CHECK(run({"delete", "--all"}, "n\n").status == 1);
    CHECK(run({"delete", "--all", "--node", "elsewhere", "-y"}).status == 0);
    CHECK(Json::parse(ask({"list", "-o", "json"})).as_array().size() == 2);
    CHECK(run({"delete", "--all"}, "\n").status == 0);
    CHECK(ask({"list", "-o", "json"}) == "[]");
    CHECK(run({"delete", "--all"}).status == 0);
}

TEST_CASE_METHOD(InstanceCommandFixture, "lists are filtered") {
    const std::string running = ask({"launch", "base", "--tags", "x"});
    ask({"init", "base"});
    const auto count = [&](const std::string& filter) {
        return Json::parse(ask({"list", "-f", filter, "-o", "json"})).as_array().size();
    };
    CHECK(count("status=running") == 1);
    CHECK(count("tags=x") == 1);
    CHECK(count("tags=y") == 0);
    CHECK(count("type=regular") == 2);
}

TEST_CASE_METHOD(InstanceCommandFixture, "node, task and server are shown") {
    ask({"launch", "base"});
    CHECK_THAT(ask({"node", "list"}), Catch::Contains("| NAME ") && Catch::Contains("online"));
    const std::string node =
        Json::parse(ask({"node", "ls", "-o", "json"})).as_array().at(0).at("name").as_string();
    CHECK_THAT(ask({"node", "show", node}), Catch::Contains("name: " + node));
    CHECK_THAT(ask({"task", "list"}), Catch::Contains("running"));
    CHECK_THAT(ask({"info"}), Catch::Contains("api_version"));
    CHECK(ask({"version", "-o", "csv"}) == "FIELD,VALUE\nclient," SVC_VERSION "\nserver," SVC_VERSION);
}

TEST_CASE_METHOD(InstanceCommandFixture, "waiting for what is not there says so") {
    CHECK_THAT(run({"wait", "absent"}).err,
               Catch::Contains("no instance, application, image or operation 'absent'"));
    ask({"wait", "base"});
}

TEST_CASE_METHOD(InstanceCommandFixture, "the service is reached over TLS with a pinned certificate") {
    CliSettings remote = settings;
    remote.socket = "";
    const std::string url = daemon.tls_target().describe();
    const CliRun refused = run_cli({"remote", "add", "far", url}, remote);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Catch::Contains(daemon.tls_target().server_fingerprint));
    remote.input = "yes\n";
    REQUIRE(run_cli({"remote", "add", "far", url}, remote).status == 0);
    CHECK(run_cli({"--remote", "far", "version"}, remote).status == 0);
    const std::string wrong(64, '0');
    CHECK(run_cli({"--url", url, "--server-fingerprint", wrong, "version"}, remote).status == 3);
}

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>

#include "cli/run.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/golden.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string url_of(const Target& target) {
    return "https://" + target.host + ":" + std::to_string(target.port);
}

// A variable of the environment that has another value in its scope.
class ChangedVariable {
  public:
    ChangedVariable(const char* name, const std::string& value) : name_(name) {
        if (const char* former = std::getenv(name)) former_ = former;
        ::setenv(name, value.c_str(), 1);
    }
    ~ChangedVariable() { former_ ? ::setenv(name_, former_->c_str(), 1) : ::unsetenv(name_); }
    ChangedVariable(const ChangedVariable&) = delete;
    ChangedVariable& operator=(const ChangedVariable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> former_;
};

}  // namespace

TEST_CASE_METHOD(DaemonFixture, "configuration is set and shown") {
    ask({"config", "set", "scheduler.strategy", "binpack"});
    ask({"config", "set", "core.trust_password", "very secret"});
    const std::string shown = ask({"config", "show"});
    CHECK_THAT(shown, Catch::StartsWith("config:\n") && Catch::Contains("scheduler.strategy: binpack") &&
                          Catch::Contains("core.trust_password: true") && !Catch::Contains("very secret"));
    CHECK_THAT(ask({"info"}), Catch::Contains("scheduler.strategy: binpack"));
    const std::string schema = ask({"config", "schema"});
    CHECK_THAT(schema, Catch::Contains("MEANING") && Catch::Contains("one of spread, binpack") &&
                           Catch::Contains("place instances on the emptiest node"));
    CHECK(run({"config", "set", "scheduler.strategy", "random"}).status == 1);
    CHECK_THAT(run({"config", "set", "no.such.key", "1"}).err,
               Catch::Contains("configuration item not found"));
    ask({"config", "set", "scheduler.strategy", ""});
    CHECK_THAT(ask({"config", "show"}), Catch::Contains("scheduler.strategy: spread"));
}

TEST_CASE_METHOD(DaemonFixture, "a node's settings are changed") {
    const std::string name =
        Json::parse(ask({"node", "list", "-o", "json"})).as_array().at(0).at("name").as_string();
    ask({"node", "set", name, "cpu-allocation-rate", "2.5"});
    ask({"node", "set", name, "tags", "zone=a,fast"});
    ask({"node", "set", name, "unschedulable", "true"});
    const Json node = Json::parse(ask({"node", "show", name, "-o", "json", "--allocations"}));
    CHECK(node.at("config").at("cpu-allocation-rate").as_double() == 2.5);
    CHECK(node.at("config").at("tags") == Json::array({"zone=a", "fast"}));
    CHECK(node.at("unschedulable").as_bool());
    CHECK(node.at("allocations") == Json::object());
    CHECK(run({"node", "set", name, "cpus", "many"}).status == 2);
    CHECK(run({"node", "set", name, "colour", "red"}).status == 2);
    const CliRun added = run({"node", "add", "other", "10.0.0.9"});
    CHECK(added.status == 1);
    CHECK_THAT(added.err, Catch::Contains("one node"));
}

TEST_CASE_METHOD(DaemonFixture, "certificates are trusted and no longer") {
    const auto certificate = daemon.path() / "client" / "client.crt";
    run({"remote", "add", "self", url_of(daemon.tls_target()),
         "--accept-certificate"});  // makes the key pair
    REQUIRE(std::filesystem::exists(certificate));
    const std::string fingerprint = ask({"trust", "add", certificate.string()});
    CHECK(is_sha256_hex(fingerprint));
    CHECK_THAT(ask({"trust", "list"}), Catch::Contains(fingerprint.substr(0, 12)));
    CHECK(run({"config", "trust", "add", certificate.string()}).status == 1);
    ask({"trust", "remove", fingerprint.substr(0, 12)});
    CHECK(ask({"config", "trust", "list", "-o", "json"}) == "[]");
    CHECK(run({"trust", "remove", "absent"}).status == 1);
}

TEST_CASE_METHOD(DaemonFixture, "an invitation lets one client in, once") {
    const std::string token = ask({"trust", "token", "laptop"});
    CHECK_THAT(ask({"trust", "list-tokens"}), Catch::Contains("laptop"));
    ask({"remote", "add", "office", url_of(daemon.tls_target()), "--accept-certificate", "--token", token});
    CHECK_THAT(ask({"--remote", "office", "info"}), Catch::Contains("auth: trusted"));
    CHECK(ask({"trust", "list-tokens", "-o", "json"}) == "[]");
    settings.config_directory = daemon.path() / "another-client";
    CHECK(run({"remote", "add", "office", url_of(daemon.tls_target()), "--accept-certificate", "--token",
               token})
              .status == 1);
}

TEST_CASE_METHOD(DaemonFixture, "a client gets a role, by its certificate or its invitation") {
    const auto certificate = daemon.path() / "client" / "client.crt";
    run({"remote", "add", "self", url_of(daemon.tls_target()), "--accept-certificate"});
    const std::string fingerprint = ask({"trust", "add", certificate.string(), "--role", "viewer"});
    CHECK_THAT(ask({"trust", "list", "-o", "csv"}), Catch::Contains("viewer"));
    CHECK_THAT(ask({"--remote", "self", "info"}), Catch::Contains("auth_role: viewer"));
    const CliRun refused = run({"--remote", "self", "config", "set", "gpu.type", "none"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Catch::Contains("this needs the role admin"));
    ask({"trust", "role", fingerprint.substr(0, 12), "admin"});
    ask({"--remote", "self", "config", "set", "gpu.type", "none"});
    CHECK(run({"trust", "role", fingerprint, "root"}).status == 1);
    CHECK(run({"trust", "role", "absent", "admin"}).status == 1);
    CHECK(run({"trust", "add", certificate.string(), "--role", "root"}).status == 2);
    ask({"trust", "token", "laptop", "--role", "operator"});
    CHECK_THAT(ask({"trust", "list-tokens", "-o", "csv"}), Catch::Contains("operator"));
}

TEST_CASE_METHOD(DaemonFixture, "browsers that are logged in are listed and logged out") {
    CHECK(ask({"trust", "session", "list", "-o", "json"}) == "[]");
    const Json link = daemon.api().post("/1.0/sessions/links", Json::object({{"name", "alice"}})).metadata();
    ApiCaller browser(daemon.tls_target());
    const ApiReply opened = browser.post("/1.0/sessions", Json::object({{"link", link.at("secret")}}));
    REQUIRE(opened.status == 200);
    const std::string id = opened.metadata().at("id").as_string();
    for (const char* format : {"table", "json", "yaml", "csv"})
        CHECK_THAT(ask({"trust", "session", "list", "-o", format}),
                   Catch::Contains(id) && Catch::Contains("alice"));
    const CliRun ended = run({"trust", "session", "delete", "absent", id});
    CHECK(ended.status == 1);
    CHECK_THAT(ended.err, Catch::Contains("'absent': session not found"));
    CHECK(ask({"trust", "session", "list", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(DaemonFixture, "the console is opened by a link, where the service has one") {
    const CliRun printed = run({"ui", "--print", "--role", "viewer"});
    if (daemon.api().get("/ui/").status == 404) {
        CHECK(printed.status == 1);
        CHECK_THAT(printed.err, Catch::Contains("this service was built without the console"));
        return;
    }
    REQUIRE(printed.status == 0);
    const std::string marker = "/ui/#login=";
    const std::size_t begin = printed.out.find(marker) + marker.size();
    CHECK_THAT(printed.out, Catch::StartsWith(url_of(daemon.tls_target()) + marker));
    const std::string secret = printed.out.substr(begin, printed.out.find('\n') - begin);
    ApiCaller browser(daemon.tls_target());
    const ApiReply opened = browser.post("/1.0/sessions", Json::object({{"link", secret}}));
    CHECK(opened.metadata().at("role") == Json("viewer"));
    CHECK(run({"ui", "--role", "root"}).status == 2);
}

// What xdg-open is called with, and the page that it is to show.
TEST_CASE_METHOD(DaemonFixture, "the link to the console is not in the list of processes") {
    if (daemon.api().get("/ui/").status == 404) return;
    const auto folder = daemon.path();
    write_file_atomically(folder / "xdg-open", "#!/bin/sh\necho \"$@\"\n", 0755);
    const ChangedVariable path("PATH", folder.string() + ":" + std::getenv("PATH"));
    cli::Environment environment;
    environment.socket = settings.socket;
    environment.has_display = true;
    const auto open_with = [&](const std::string& runtime_folder) {
        const ChangedVariable runtime("XDG_RUNTIME_DIR", runtime_folder);
        const FileDescriptor out = open_file(folder / "out", O_CREAT | O_TRUNC | O_WRONLY);
        environment.out = environment.err = out.get();
        CHECK(cli::run({"ui"}, environment) == 0);
        return read_file(folder / "out");
    };
    const std::string opened = open_with(folder.string()), printed = open_with("");
    const auto page = folder / "svcctl-login.html";
    CHECK(opened == page.string() + "\n");
    CHECK_THAT(read_file(page), Catch::Contains("url=" + url_of(daemon.tls_target()) + "/ui/#login="));
    CHECK(std::filesystem::status(page).permissions() == std::filesystem::perms(0600));
    CHECK_THAT(printed, Catch::Contains("/ui/#login="));
}

TEST_CASE_METHOD(DaemonFixture, "a registry that is not configured is told") {
    const CliRun listed = run({"registry", "list"});
    CHECK(listed.status == 1);
    CHECK_THAT(listed.err, Catch::Contains("registry not configured"));
}

// The real program: its flags, signals and exit statuses, its TLS, and what it writes.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <future>
#include <mutex>

#include "libsvc/base/error.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/server_certificate.h"
#include "tests/support/test_gateway.h"
#include "tests/support/tls_versions.h"

namespace svc::test {

namespace {

using namespace std::chrono_literals;

CommandResult run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), SVC_GATEWAY_PROGRAM);
    return run_command(flags, 60s);
}

// The program as a child; what it says on stderr is kept.
class Process {
  public:
    Process(const std::filesystem::path& directory, const std::vector<std::string>& more = {}) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe", errno);
        errors_ = FileDescriptor(ends[0]);
        const FileDescriptor write_end(ends[1]);
        SpawnOptions options;
        options.arguments = {SVC_GATEWAY_PROGRAM,          "--state-dir", directory / "state", "--socket",
                             directory / "gateway.socket", "--listen",    "127.0.0.1:0"};
        options.arguments.insert(options.arguments.end(), more.begin(), more.end());
        options.descriptors = {{write_end.get(), 2}};
        child_.emplace(options);
    }
    // Everything up to a line that has the text; throws when it does not come.
    std::string read_until(const std::string& text) {
        for (;;) {
            const std::size_t at = said_.find(text);
            if (at != std::string::npos && said_.find('\n', at) != std::string::npos) return said_;
            if (!read_some()) throw Error(ErrorCode::unavailable, "it said nothing more than: " + said_);
        }
    }
    std::string read_all() {
        while (read_some()) continue;
        return said_;
    }
    Target target() {
        const std::string text = read_until("svc-gateway: ready ");
        const std::size_t at = text.find("https://");
        Target target = Target::parse(text.substr(at, text.find_first_of(" \n", at) - at));
        target.unverified = true;
        return target;
    }
    Child& child() { return *child_; }

  private:
    bool read_some() {
        pollfd wanted{errors_.get(), POLLIN, 0};
        if (poll(&wanted, 1, 60'000) != 1) throw Error(ErrorCode::unavailable, "it says nothing: " + said_);
        std::array<char, 4096> buffer{};
        const ssize_t got = ::read(errors_.get(), buffer.data(), buffer.size());
        said_.append(buffer.data(), static_cast<std::size_t>(got > 0 ? got : 0));
        return got > 0;
    }

    FileDescriptor errors_;
    std::optional<Child> child_;
    std::string said_;
};

struct Setup {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-gateway-process-"};
    std::filesystem::path path = directory.path();
};

}  // namespace

TEST_CASE_METHOD(Setup, "the gateway checks its usage and configuration") {
    CHECK(run({"--version"}).output == "svc-gateway " SVC_VERSION "\n");
    CHECK(run({"--version"}).status.code == 0);
    CHECK(run({"--help"}).status.code == 0);
    CHECK(run({"--no-such-flag"}).status.code == 2);
    CHECK(run({"--listen", "here"}).status.code == 2);
    CHECK(run({"--check-config", "--state-dir", path / "state"}).output == "configuration is valid\n");
    write_file_atomically(path / "bad.yaml", "\nlimits: 3\n");
    const CommandResult bad = run({"--config", path / "bad.yaml", "--check-config"});
    CHECK(bad.status.code == 2);
    write_file_atomically(path / "far.yaml", "public_url: unix:///x\n");
    CHECK(run({"--config", path / "far.yaml"}).errors ==
          "svc-gateway: " + (path / "far.yaml").string() +
              ":1: argument public_url is invalid: must begin with https:// or http://\n");
    CHECK(run({"--help"}).output.find("default /var/lib/svc-gateway") != std::string::npos);
    CHECK(bad.errors == "svc-gateway: " + (path / "bad.yaml").string() +
                            ":2: argument limits is invalid: must be a map of keys to values\n");
    CHECK_FALSE(std::filesystem::exists(path / "state"));
}

TEST_CASE_METHOD(Setup, "the gateway says when it is ready and ends cleanly") {
    Process process(path);
    const std::string said = process.read_until("svc-gateway: ready ");
    CHECK(said.find("svc-gateway: ready unix:" + (path / "gateway.socket").string() +
                    " https://127.0.0.1:") != std::string::npos);
    CHECK(ApiCaller(process.target()).get("/1.0/status").status == 200);
    Process second(path);
    CHECK(second.child().wait().code == 1);
    CHECK(second.read_all().find("is in use by another svc-gateway") != std::string::npos);
    process.child().kill(SIGTERM);
    const auto status = process.child().wait_for(60s);
    REQUIRE(status);
    CHECK(status->code == 0);
    CHECK_FALSE(std::filesystem::exists(path / "gateway.socket"));
}

TEST_CASE_METHOD(Setup, "the gateway speaks tls 13 alone unless told") {
    {
        Process process(path);
        const Target target = process.target();
        CHECK(accepts(target, TlsVersion::tls13));
        CHECK_FALSE(accepts(target, TlsVersion::tls12));
    }
    Process process(path, {"--tls12"});
    const Target target = process.target();
    CHECK(accepts(target, TlsVersion::tls13));
    CHECK(accepts(target, TlsVersion::tls12));
}

TEST_CASE_METHOD(Setup, "a hangup has the certificate and the log level read again") {
    const SystemClock clock;
    const KeyPair files{path / "own.crt", path / "own.key"};
    ensure_key_pair(files, "first", {}, {}, clock);
    write_file_atomically(path / "gateway.yaml",
                          "log_level: error\ntls_certificate: " + files.certificate.string() +
                              "\ntls_key: " + files.key.string() + "\n");
    Process process(path, {"--config", path / "gateway.yaml"});
    Target target = process.target(), of_instances = target;
    of_instances.server_name = "instances.svc-gateway.internal";
    const std::string instances = server_certificate(of_instances).fingerprint;
    std::filesystem::remove(files.certificate);
    std::filesystem::remove(files.key);
    ensure_key_pair(files, "second", {}, {}, clock);
    write_file_atomically(path / "gateway.yaml",
                          "log_level: info\ntls_certificate: " + files.certificate.string() +
                              "\ntls_key: " + files.key.string() + "\n");
    process.child().kill(SIGHUP);
    process.read_until("log level and certificates were read again");
    target.unverified = false;
    target.server_fingerprint = parse_certificate(read_file(files.certificate)).fingerprint;
    CHECK(ApiCaller(target).get("/1.0/status").status == 200);
    CHECK(server_certificate(target).fingerprint == target.server_fingerprint);
    CHECK(server_certificate(of_instances).fingerprint == instances);
    write_file_atomically(path / "gateway.yaml", "log_level: loud\n");
    process.child().kill(SIGHUP);
    process.read_until("reload failed; everything stays as it was");
    CHECK(ApiCaller(target).get("/1.0/status").status == 200);
}

TEST_CASE_METHOD(Setup, "no token is written to the log") {
    Process process(path, {"--log-level", "debug"});
    const Target target = process.target();
    Target local;
    local.unix_path = path / "gateway.socket";
    const std::string token = ApiCaller(local)
                                  .post("/1.0/accounts", Json::object({{"name", "alice"}}))
                                  .metadata()
                                  .at("token")
                                  .as_string();
    ApiCaller api(target);
    Headers headers;
    headers.set("Authorization", "macaroon root=" + token);
    CHECK(api.call(Method::get, "/1.0/sessions", "", headers).status == 200);
    CHECK(api.get("/1.0/sessions?api_token=" + token).status == 200);
    CHECK(api.get("/1.0/sessions?api_token=" + token + "x").status == 401);
    CHECK(api.get("/1.0/sessions/00000000000000000000/sockets/slave?token=" + token).status == 400);
    process.child().kill(SIGTERM);
    const std::string said = process.read_all();
    CHECK(said.find("/1.0/sessions") != std::string::npos);
    CHECK(said.find(token.substr(0, 40)) == std::string::npos);
}

TEST_CASE("the log tells who asked for a session") {
    TestGateway gateway([](gateway::Options& options) { options.log_level = log::Level::info; });
    const std::string token = gateway.token("alice");
    std::mutex mutex;
    std::string said = "\n";
    log::set_listener([&](log::Level, std::string_view message, const log::Fields& fields) {
        const std::lock_guard lock(mutex);
        said += message;
        for (const auto& [name, value] : fields) said += " " + name + "=" + value;
        said += "\n";
    });
    const std::string id = gateway.create(token).at("id").as_string();
    gateway.region().await_launches(1);
    const int status = gateway.call(Method::delete_, "/1.0/sessions/" + id + "?sync=true", token).status;
    log::set_listener({});
    CHECK(status == 200);
    const std::lock_guard lock(mutex);
    const auto is_told = [&](const std::string& what, const std::string& of_whom) {
        const auto lines = split(said, '\n');
        return std::ranges::any_of(lines, [&](const std::string& line) {
            return line.starts_with(what + " request=") && line.ends_with(" session=" + id + of_whom);
        });
    };
    CHECK(is_told("session created", " account=alice app=app region=home"));
    CHECK(is_told("session ends", " reason=Deleted by request"));
}

TEST_CASE_METHOD(Setup, "a gateway without descriptors says so and serves when it has some again") {
    Process process(path);
    const Target target = process.target();
    rlimit before{};
    REQUIRE(prlimit(process.child().pid(), RLIMIT_NOFILE, nullptr, &before) == 0);
    const rlimit few{3, before.rlim_max};
    REQUIRE(prlimit(process.child().pid(), RLIMIT_NOFILE, &few, nullptr) == 0);
    auto status = std::async(std::launch::async, [&] { return ApiCaller(target).get("/1.0/status").status; });
    CHECK(process.read_until("connections wait").find("cannot accept: too many open files") !=
          std::string::npos);
    REQUIRE(prlimit(process.child().pid(), RLIMIT_NOFILE, &before, nullptr) == 0);
    CHECK(status.get() == 200);
}

}  // namespace svc::test

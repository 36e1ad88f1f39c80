#include "cli/connection/target.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "tests/cli/parse.h"
#include "tests/cli/run_cli.h"

using namespace svc;
using namespace svc::test;

namespace {

struct Fixture {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "cli-test-"};
    CliSettings settings{"", "", directory.path() / "config"};
    CliRun run(const std::vector<std::string>& words) { return run_cli(words, settings); }
    Target chosen(const std::vector<std::string>& words, const std::string& socket = "") {
        return cli::choose_target(parse(words).arguments, socket, settings.config_directory);
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "remotes are remembered, chosen and forgotten") {
    CHECK(run({"remote", "add", "other", "unix:///tmp/other.socket"}).status == 0);
    CHECK(run({"remote", "list", "-o", "csv"}).out ==
          "NAME,URL,DEFAULT\nlocal,unix:///run/svc/unix.socket,true\nother,unix:///tmp/other.socket,false\n");
    CHECK(run({"remote", "add", "other", "unix:///x"}).status == 1);
    CHECK(run({"remote", "set-default", "other"}).status == 0);
    CHECK(chosen({"list"}).unix_path == "/tmp/other.socket");
    CHECK(run({"remote", "set-url", "other", "unix:///tmp/moved.socket"}).status == 0);
    CHECK(chosen({"list"}).unix_path == "/tmp/moved.socket");
    CHECK(run({"remote", "remove", "other"}).status == 0);
    CHECK(chosen({"list"}).unix_path == "/run/svc/unix.socket");
}

TEST_CASE_METHOD(Fixture, "unknown remotes and the local one are told apart") {
    CHECK_THAT(run({"remote", "remove", "x"}).err, Catch::Contains("remote 'x' not found"));
    CHECK_THAT(run({"remote", "remove", "local"}).err, Catch::Contains("cannot be changed"));
    CHECK_THAT(run({"--remote", "x", "list"}).err, Catch::Contains("remote 'x' not found"));
    CHECK(run({"remote", "add", "x", "nonsense"}).status == 2);
}

TEST_CASE_METHOD(Fixture, "flags win over the environment, the environment over the default") {
    run({"remote", "add", "other", "unix:///tmp/other.socket"});
    run({"remote", "set-default", "other"});
    CHECK(chosen({"list"}, "/env").unix_path == "/env");
    CHECK(chosen({"list", "--socket", "/flag"}, "/env").unix_path == "/flag");
    CHECK(chosen({"list", "--remote", "local"}, "/env").unix_path == "/run/svc/unix.socket");
    const std::string pin(64, 'A');
    const Target url = chosen({"list", "--url", "https://h:1", "--server-fingerprint", pin}, "/env");
    CHECK(url.host == "h");
    CHECK(url.server_fingerprint == std::string(64, 'a'));
}

TEST_CASE_METHOD(Fixture, "the client's key is made once and kept to its owner") {
    const cli::Config config(settings.config_directory);
    const KeyPair files = config.key_pair();
    const std::string key = read_file(files.key);
    CHECK(read_file(config.key_pair().key) == key);
    struct stat status {};
    REQUIRE(::stat(files.key.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE_METHOD(Fixture, "a broken remotes file is named") {
    std::filesystem::create_directories(settings.config_directory);
    write_file_atomically(settings.config_directory / "remotes.json", "{");
    CHECK_THAT(run({"remote", "list"}).err, Catch::Contains("remotes.json"));
}

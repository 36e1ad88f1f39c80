#include <catch2/catch.hpp>
#include <set>

#include "cli/commands/all_commands.h"
#include "tests/cli/run_cli.h"
#include "tests/support/golden.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("help of the program, a group and a command goes to standard output") {
    for (const auto& [file, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"help", {"--help"}},
             {"help_image", {"image", "--help"}},
             {"help_launch", {"launch", "-h"}},
             {"help_exec", {"--socket", "/x", "exec", "--help"}}}) {
        const CliRun run = run_cli(words);
        CHECK(run.status == 0);
        CHECK(run.err.empty());
        check_golden("cli/golden/" + file + ".txt", run.out);
    }
}

TEST_CASE("wrong usage is status 2 and says what is wrong") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{}, "no command given"},
        {{"fly"}, "unknown command 'fly'"},
        {{"image"}, "which command?"},
        {{"image", "fly"}, "unknown command 'image fly'"},
        {{"instance", "camera"}, "svcctl instance camera: which command?"},
        {{"instance", "camera", "fly"}, "unknown command 'instance camera fly'"},
        {{"--fly"}, "unknown flag '--fly'"},
        {{"list", "--fly"}, "--fly"},
        {{"list", "extra"}, "extra"},
        {{"show"}, "argument <id> is missing"},
        {{"exec", "abc"}, "argument <command> is missing"},
        {{"show", "abc", "--", "def"}, "unexpected argument 'def'"},
        {{"list", "-o", "xml"}, "'xml' is none of table, json, yaml, csv"},
        {{"list", "-o", "json", "-o", "csv"}, "more than once"},
        {{"list", "-f", "colour=red"}, "'colour=red'"},
        {{"launch", "i", "-c", "two"}, "'two' is not a number"},
        {{"launch", "i", "-m", "3 apples"}, "memory"},
        {{"launch", "i", "-s", "smtp"}, "'smtp'"},
        {{"launch", "i", "-t", "soon"}, "'soon' is not a duration"},
        {{"launch", "i", "--userdata", "a", "--userdata-path", "b"}, "exclude each other"},
        {{"delete"}, "argument <id> is missing"},
        {{"delete", "-a", "abc"}, "exclude each other"},
        {{"image", "update", "abc"}, "nothing to change"},
        {{"monitor", "-t", "gossip"}, "'gossip'"},
        {{"monitor", "-t", "all,audit"}, "audit is followed by itself"},
        {{"list", "--url", "ftp://x"}, "--url"},
        {{"list", "--url", "https://x", "--remote", "y"}, "exclude each other"},
        {{"list", "--cert", "x"}, "needs --url"},
        {{"completion", "tcsh"}, "tcsh"},
    };
    for (const auto& [words, text] : cases) {
        const CliRun run = run_cli(words);
        INFO(run.err);
        CHECK(run.status == 2);
        CHECK(run.out.empty());
        CHECK_THAT(run.err, Catch::StartsWith("Error: ") && Catch::Contains(text));
    }
}

TEST_CASE("a word that is not known is answered with the one that is near") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"delte"}, "unknown command 'delte'; did you mean 'delete'?"},
        {{"imgae", "list"}, "unknown command 'imgae'; did you mean 'image'?"},
        {{"del", "abc"}, "unknown command 'del'; did you mean 'delete'?"},
        {{"--socket", "/x", "laucnh"}, "unknown command 'laucnh'; did you mean 'launch'?"},
        {{"image", "lst"}, "unknown command 'image lst'; did you mean 'image list'?"},
        {{"app", "crate"}, "unknown command 'application crate'; did you mean 'application create'?"},
        {{"instance", "locaton", "show"},
         "unknown command 'instance locaton'; did you mean 'instance location'?"},
        {{"instance", "camera", "enabel"},
         "unknown command 'instance camera enabel'; did you mean 'instance camera enable'?"},
        {{"config", "trust", "lsit"},
         "unknown command 'config trust lsit'; did you mean 'config trust list'?"},
        {{"--verison"}, "unknown flag '--verison'; did you mean '--version'?"},
        {{"list", "--formt=json"}, "unknown flag '--formt'; did you mean '--format'?"},
        {{"launch", "i", "--sockte", "/x"}, "unknown flag '--sockte'; did you mean '--socket'?"},
        {{"fly"}, "unknown command 'fly'; see 'svcctl --help'"},
        {{"image", "frobnicate"}, "unknown command 'image frobnicate'; see 'svcctl image --help'"},
        {{"list", "--colour"}, "unknown flag '--colour'; see 'svcctl list --help'"},
        {{"list", "-x"}, "unknown flag '-x'; see 'svcctl list --help'"},
    };
    for (const auto& [words, text] : cases) {
        const CliRun run = run_cli(words);
        CHECK(run.status == 2);
        CHECK(run.out.empty());
        CHECK(run.err == "Error: " + text + "\n");
    }
}

TEST_CASE("a service that cannot be reached is status 3, of exec 125") {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"list"}, {"info"}, {"launch", "i"}, {"monitor"}, {"wait", "abc"}, {"delete", "-y", "abc"}}) {
        const CliRun run = run_cli(words);
        CHECK(run.status == 3);
        CHECK_THAT(run.err, Catch::Contains("'/nonexistent/svc.socket' does not exist; is svcd running?"));
    }
    CHECK(run_cli({"exec", "abc", "--", "true"}).status == 125);
    CHECK(run_cli({"--url", "http://127.0.0.1:1", "list"}).status == 3);
}

TEST_CASE("the client tells its version without a service") {
    CHECK(run_cli({"--version"}).out == "svcctl " SVC_VERSION "\n");
    const CliRun run = run_cli({"version"});
    CHECK(run.status == 3);
    CHECK(run.out == "client: \"" SVC_VERSION "\"\n");
}

TEST_CASE("no two arguments of a command share a name") {
    for (const auto& command : cli::all_commands().commands) {
        std::set<std::string> names;
        std::set<char> letters;
        for (const auto& positional : command.positionals) CHECK(names.insert(positional.name).second);
        for (const auto* flags : {&command.flags, &cli::all_commands().global_flags})
            for (const auto& flag : *flags) {
                INFO(command.path.back() << " --" << flag.name);
                CHECK(names.insert(flag.name).second);
                CHECK((flag.letter == 0 || letters.insert(flag.letter).second));
            }
    }
}

TEST_CASE("help of a group within a group lists its commands alone") {
    const CliRun run = run_cli({"instance", "location", "--help"});
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Catch::StartsWith("Usage: svcctl instance location <command>") &&
                            Catch::Contains("  replay") && !Catch::Contains("camera"));
    const std::string all = run_cli({"instance", "--help"}).out;
    CHECK(all.find("location replay") < all.find("camera enable"));
    CHECK(all.find("trace stop") < all.find("platform show"));
}

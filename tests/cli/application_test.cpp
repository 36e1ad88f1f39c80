#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "cli/views/application_view.h"
#include "libsvc/base/file.h"
#include "libsvc/base/id.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/golden.h"

using namespace svc;
using namespace svc::test;

namespace {

struct Applications : DaemonFixture {
    Applications() { add_image("base"); }

    // A package as a directory.
    std::filesystem::path sample(const std::string& manifest) {
        const auto tree = daemon.path() / ("package-" + std::to_string(++samples_));
        make_directories(tree / "hooks", 0755);
        write_file_atomically(tree / "manifest.yaml", manifest);
        const auto hook = tree / "hooks" / "post-start";
        write_file_atomically(hook, "#!/bin/sh\n");
        REQUIRE(::chmod(hook.c_str(), 0755) == 0);
        return tree;
    }
    std::string create(const std::string& manifest) {
        std::string id = ask({"application", "create", sample(manifest).string()});
        ask({"wait", id});
        return id;
    }
    Json shown(const std::string& id) { return Json::parse(ask({"app", "show", id, "-o", "json"})); }

  private:
    int samples_ = 0;
};

}  // namespace

TEST_CASE_METHOD(Applications, "a created application is listed and shown in every format") {
    ask({"addon", "add", "greeting", sample("name: greeting\n").string()});
    CHECK(is_object_id(create("name: candy\nversion: '1'\naddons: [greeting]\ntags: [games, new]\n")));
    for (const std::string format : {"table", "json", "yaml", "csv"}) {
        check_golden("cli/golden/application_list." + format,
                     normalise_text(ask({"application", "ls", "-o", format}) + "\n"));
        check_golden("cli/golden/application_show." + format,
                     normalise_text(ask({"application", "show", "candy", "-o", format}) + "\n"));
        check_golden("cli/golden/addon_list." + format,
                     normalise_text(ask({"addon", "list", "-o", format}) + "\n"));
    }
    CHECK(ask({"app", "list", "-f", "tag=absent", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(Applications, "the pool of an application is set and shown") {
    create("name: candy\n");
    CHECK(run({"application", "pool", "candy", "--min", "3", "--max", "2"}).status == 2);
    ask({"application", "pool", "candy", "--max", "1", "--late-data"});
    CHECK(shown("candy").at("pool") == Json::parse(R"({"min": 0, "max": 1, "late_data": true})"));
    ask({"app", "pool", "candy", "--min", "1"});
    const auto waiting = [&] {
        return Json::parse(ask({"list", "-f", "status=pooled", "-o", "json"})).as_array().size();
    };
    eventually("one waits", [&] { return waiting() == 1; });
    ask({"launch", "candy"});
    ask({"app", "pool", "candy"});
    CHECK(shown("candy").find("pool") == nullptr);
    eventually("none waits", [&] { return waiting() == 0; });
}

TEST_CASE("a service that tells of addons by their names alone is understood") {
    const Json shown =
        cli::application_value(Json::parse(R"({"id": "a", "versions": [{"number": 0, "addons": ["ssh"]},
                                                {"number": 1, "addons": [{"name": "ssh", "version": 3}]}]})"));
    CHECK(shown.at("versions").at("0").at("addons") == Json::array({"ssh"}));
    CHECK(shown.at("versions").at("1").at("addons") == Json::array({"ssh (version 3)"}));
}

TEST_CASE_METHOD(Applications, "fields are set and unset, some make a version") {
    create("name: candy\n");
    ask({"application", "set", "candy", "tags", "a,b"});
    CHECK(shown("candy").at("tags") == Json::array({"a", "b"}));
    ask({"application", "unset", "candy", "tags"});
    CHECK(shown("candy").at("tags") == Json::array());
    ask({"application", "set", "candy", "resources.cpus", "3"});
    CHECK(shown("candy").at("versions").as_object().size() == 1);
    ask({"application", "set", "candy", "watchdog.disabled", "true"});
    ask({"wait", "candy", "-s", "version=1"});
    CHECK(shown("candy").at("versions").at("1").at("watchdog").at("disabled").as_bool());
    CHECK(run({"application", "set", "candy", "colour", "red"}).status == 2);
    CHECK(run({"application", "set", "candy", "resources.cpus", "many"}).status == 2);
    CHECK(run({"application", "unset", "candy", "image"}).status == 2);
}

TEST_CASE_METHOD(Applications, "versions are published, revoked, deleted") {
    create("name: candy\n");
    ask({"application", "update", "candy", sample("name: candy\nversion: '2'\n").string()});
    ask({"wait", "candy", "-s", "version=1"});
    ask({"application", "revoke", "candy", "1"});
    CHECK_FALSE(shown("candy").at("versions").at("1").at("published").as_bool());
    ask({"application", "publish", "candy", "1"});
    CHECK(shown("candy").at("versions").at("1").at("published").as_bool());
    ask({"application", "delete", "candy", "-v", "0", "-y"});
    CHECK(shown("candy").at("versions").as_object().size() == 1);
    CHECK(run({"application", "delete", "candy", "-v", "1", "-y"}).status == 1);
    ask({"application", "delete", "candy", "-y"});
    CHECK(ask({"application", "list", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(Applications, "an application is launched by its name") {
    create("name: candy\n");
    const std::string id = ask({"launch", "candy"});
    const Json instance = Json::parse(ask({"show", id, "-o", "json"}));
    CHECK(instance.at("application").at("version").as_int() == 0);
    CHECK(ask({"list", "-f", "app=candy", "-o", "json"}) != "[]");
    CHECK(run({"launch", "candy", "-i", "a4.3"}).status == 2);
    CHECK(run({"launch", "--raw", "base", "--application-version", "0"}).status == 2);
    CHECK(is_object_id(ask({"launch", "--raw", "base"})));
}

TEST_CASE_METHOD(Applications, "a manifest is printed, an export written whole") {
    create("name: candy\nversion: '1'\n");
    CHECK_THAT(ask({"application", "manifest", "candy"}), Catch::Contains("name: candy"));
    const auto target = daemon.path() / "candy.tar.gz";
    CHECK(ask({"application", "export", "candy", "0", target.string()}) == target.string());
    CHECK(std::filesystem::file_size(target) > 0);
    ask({"image", "add", "again", target.string()});
    const auto small = daemon.path() / "candy.tar.zst";
    CHECK(ask({"application", "export", "candy", "0", small.string()}) == small.string());
    CHECK(read_file(small).starts_with("\x28\xB5\x2F\xFD"));
    ask({"image", "add", "small", small.string()});
    CHECK(run({"application", "export", "candy", "7", (daemon.path() / "x").string()}).status == 1);
    CHECK_FALSE(std::filesystem::exists(daemon.path() / "x"));
}

TEST_CASE_METHOD(Applications, "a package that is refused leaves nothing") {
    const CliRun bad = run({"application", "create", sample("name: 'a b'\n").string()});
    CHECK(bad.status == 1);
    CHECK_THAT(bad.err, Catch::StartsWith("Error: ") && Catch::Contains("name"));
    CHECK(run({"application", "create", (daemon.path() / "absent").string()}).status == 1);
    CHECK(ask({"application", "list", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(Applications, "an addon in use stays") {
    ask({"addon", "add", "greeting", sample("name: greeting\n").string()});
    create("name: candy\naddons: [greeting]\n");
    const CliRun refused = run({"addon", "delete", "greeting", "-y"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Catch::Contains("in use"));
    ask({"addon", "update", "greeting", sample("name: greeting\ndescription: newer\n").string()});
    ask({"wait", "candy", "-s", "version=1"});
    CHECK(Json::parse(ask({"addon", "show", "greeting", "-o", "json"})).at("versions").as_object().size() ==
          2);
}

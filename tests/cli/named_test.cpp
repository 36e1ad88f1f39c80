// Names that are slightly wrong, and ids that are not whole.
#include <algorithm>
#include <catch2/catch.hpp>

#include "libsvc/base/id.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/application_package.h"

using namespace svc;
using namespace svc::test;

namespace {

struct NamedFixture : DaemonFixture {
    std::string image = add_image("base");
    std::string first = ask({"launch", "base"});

    // Standard error of what fails with status 1.
    std::string failure(const std::vector<std::string>& words) {
        const CliRun done = run(words);
        CHECK(done.status == 1);
        CHECK(done.out.empty());
        return done.err;
    }
    Json shown(const std::string& id) { return Json::parse(ask({"show", id, "-o", "json"})); }
    std::vector<std::string> instances() {
        std::vector<std::string> ids;
        const Json list = Json::parse(ask({"list", "-o", "json"}));
        for (const Json& instance : list.as_array()) ids.push_back(instance.at("id").as_string());
        return ids;
    }
};

// The beginning of both ids.
std::string common_beginning(const std::string& a, const std::string& b) {
    return {a.begin(), std::mismatch(a.begin(), a.end(), b.begin()).first};
}

}  // namespace

TEST_CASE_METHOD(NamedFixture, "an instance is known by the beginning of its id") {
    const std::string beginning = first.substr(0, 3);
    CHECK(shown(beginning).at("id").as_string() == first);
    ask({"stop", beginning});
    CHECK(shown(first).at("status").as_string() == "stopped");
    ask({"start", beginning});
    ask({"wait", beginning});
    CHECK(ask({"exec", beginning, "--", "echo", "x"}) == ask({"exec", first, "--", "echo", "x"}));
    ask({"delete", "-y", beginning});
    CHECK(instances().empty());
}

TEST_CASE_METHOD(NamedFixture, "two letters are no abbreviation") {
    CHECK(failure({"show", first.substr(0, 2)}) == "Error: container not found\n");
}

TEST_CASE_METHOD(NamedFixture, "a beginning of several ids names them and does nothing") {
    const std::string second = ask({"launch", "base"});
    const std::string both = common_beginning(first, second);
    REQUIRE(both.size() >= 3);
    const std::string told = failure({"delete", "-y", both});
    CHECK_THAT(told, Catch::StartsWith("Error: '" + both + "' is the beginning of 2 ids: ") &&
                         Catch::Contains(first) && Catch::Contains(second));
    CHECK(instances().size() == 2);
    ask({"delete", "-y", first.substr(0, both.size() + 1)});
    CHECK(instances() == std::vector<std::string>{second});
}

TEST_CASE_METHOD(NamedFixture, "of many ids that begin alike ten are told") {
    for (int i = 0; i < 10; ++i) ask({"init", "base"});
    const std::string told = failure({"show", first.substr(0, 3)});
    CHECK_THAT(told, Catch::Contains("is the beginning of 11 ids: ") && Catch::EndsWith(", ...\n"));
    CHECK(std::count(told.begin(), told.end(), ',') == 10);
}

TEST_CASE_METHOD(NamedFixture, "a name that is exactly so wins over the beginning of an id") {
    const std::string name = image.substr(0, 4);
    add_image(name);
    CHECK(Json::parse(ask({"image", "show", name, "-o", "json"})).at("name").as_string() == name);
    CHECK(Json::parse(ask({"image", "show", image, "-o", "json"})).at("name").as_string() == "base");
}

TEST_CASE_METHOD(NamedFixture, "operations, images and applications are abbreviated alike") {
    const std::string operation = ask({"launch", "base", "--no-wait"});
    ask({"wait", operation.substr(0, 13)});
    const Json record = Json::parse(ask({"operation", "show", operation.substr(0, 13), "-o", "json"}));
    CHECK(record.at("id").as_string() == operation);
    CHECK_THAT(failure({"operation", "cancel", operation.substr(0, 13)}),
               Catch::Contains("Only running operations can be cancelled"));
    CHECK_THAT(ask({"image", "show", image.substr(0, 5)}), Catch::Contains("id: " + image));
    const std::string application =
        daemon.api().add_application(application_package("candy", "image: base\n"));
    CHECK_THAT(ask({"application", "show", application.substr(0, application.size() - 1)}),
               Catch::Contains("id: " + application));
}

TEST_CASE_METHOD(NamedFixture, "a name that is nearly so is suggested") {
    CHECK(failure({"image", "show", "bsae"}) == "Error: image not found; did you mean 'base'?\n");
    CHECK(failure({"image", "delete", "-y", "bas"}) == "Error: image not found; did you mean 'base'?\n");
    CHECK(failure({"launch", "--raw", "bass"}) == "Error: image not found; did you mean 'base'?\n");
    CHECK(failure({"launch", "bass"}) == "Error: no application or image 'bass'; did you mean 'base'?\n");
    CHECK(failure({"wait", "bass"}) ==
          "Error: no instance, application, image or operation 'bass'; did you mean 'base'?\n");
    const std::string node =
        Json::parse(ask({"node", "list", "-o", "json"})).as_array().at(0).at("name").as_string();
    CHECK(failure({"node", "show", node + "x"}) == "Error: node not found; did you mean '" + node + "'?\n");
    daemon.api().add_application(application_package("candy", "image: base\n"));
    CHECK(failure({"application", "set", "cnady", "tags", "a"}) ==
          "Error: application not found; did you mean 'candy'?\n");
    CHECK(failure({"launch", "cady"}) == "Error: no application or image 'cady'; did you mean 'candy'?\n");
    CHECK(failure({"image", "show", "nothing-like-it"}) == "Error: image not found\n");
}

TEST_CASE_METHOD(NamedFixture, "an addon's name that is nearly so is suggested") {
    daemon.api().add_addon("ssh-keys", addon_package());
    CHECK(failure({"addon", "show", "ssh-kesy"}) == "Error: addon not found; did you mean 'ssh-keys'?\n");
    CHECK(failure({"addon", "delete", "-y", "ssh-kesy"}) ==
          "Error: addon not found; did you mean 'ssh-keys'?\n");
}

TEST_CASE_METHOD(NamedFixture, "of several instances those that are there are deleted") {
    const std::string second = ask({"launch", "base"});
    const CliRun done = run({"delete", "-y", "nobody", first, second});
    CHECK(done.status == 1);
    CHECK(done.err == "Error: nobody: container not found\n");
    CHECK(instances().empty());
}

TEST_CASE_METHOD(NamedFixture, "exec in what is not there is status 125") {
    const CliRun done = run({"exec", "nobody", "--", "true"});
    CHECK(done.status == 125);
    CHECK(done.err == "Error: container not found\n");
}

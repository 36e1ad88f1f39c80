#include <catch2/catch.hpp>

#include "libsvc/base/id.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/golden.h"

using namespace svc;
using namespace svc::test;

TEST_CASE_METHOD(DaemonFixture, "an added image is listed and shown in every format") {
    CHECK(is_object_id(add_image("first")));
    add_image("second");
    for (const std::string format : {"table", "json", "yaml", "csv"}) {
        check_golden("cli/golden/image_list." + format,
                     normalise_text(ask({"image", "ls", "-o", format}) + "\n"));
        check_golden("cli/golden/image_show." + format,
                     normalise_text(ask({"image", "show", "first", "--format", format}) + "\n"));
    }
}

TEST_CASE_METHOD(DaemonFixture, "a new version is added by name, the default is moved") {
    add_image("first");
    add_image("second");
    ask({"image", "update", "first", package("newer").string()});
    ask({"image", "update", "second", "--default"});
    CHECK(Json::parse(ask({"image", "show", "first", "-o", "json"})).at("versions").as_object().size() == 2);
    CHECK(Json::parse(ask({"image", "show", "second", "-o", "json"})).at("default").as_bool());
    ask({"image", "delete", "first", "-v", "0", "-y"});
    CHECK(Json::parse(ask({"image", "show", "first", "-o", "json"})).at("versions").as_object().size() == 1);
}

TEST_CASE_METHOD(DaemonFixture, "what the service refuses is status 1 with its words") {
    add_image("first");
    const CliRun twice = run({"image", "add", "first", package("x").string()});
    CHECK(twice.status == 1);
    CHECK_THAT(twice.err, Catch::StartsWith("Error: ") && Catch::Contains("already exists"));
    CHECK(run({"image", "add", "x", (daemon.path() / "absent").string()}).status == 1);
    CHECK(run({"image", "show", "absent"}).status == 1);
}

TEST_CASE_METHOD(DaemonFixture, "a package that is no archive fails and leaves no image") {
    const auto path = daemon.path() / "nonsense";
    write_file_atomically(path, "nonsense");
    CHECK(run({"image", "add", "x", path.string()}).status == 1);
    CHECK(ask({"image", "list", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(DaemonFixture, "a deletion asks, and takes no end of input for a yes") {
    add_image("first");
    const CliRun unanswered = run({"image", "delete", "first"});
    CHECK(unanswered.status == 1);
    CHECK_THAT(unanswered.err, Catch::Contains("The following will be REMOVED:\n  image 'first'\n") &&
                                   Catch::Contains("Do you want to continue? [Y/n]: "));
    CHECK(run({"image", "delete", "first"}, "no\n").status == 1);
    CHECK(run({"image", "delete", "first"}, "perhaps\nYES\n").status == 0);
    CHECK(ask({"image", "list", "-o", "json"}) == "[]");
}

#include "tests/cli/daemon_fixture.h"

#include <catch2/catch.hpp>

namespace svc::test {

std::string DaemonFixture::ask(const std::vector<std::string>& words) {
    CliRun done = run(words);
    INFO(done.err);
    REQUIRE(done.status == 0);
    if (done.out.ends_with('\n')) done.out.pop_back();
    return done.out;
}

std::filesystem::path DaemonFixture::package(const std::string& text) {
    const auto path = daemon.path() / (text + ".tar.gz");
    PackageContent content;
    content.text = text;
    write_file_atomically(path, image_package(content));
    return path;
}

}  // namespace svc::test

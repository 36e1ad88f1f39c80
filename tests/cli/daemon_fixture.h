#pragma once
// svcctl against the real daemon's code in the same process, with simulated containers.
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "tests/cli/run_cli.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

struct DaemonFixture {
    TestDaemon daemon;
    CliSettings settings{daemon.local_target().unix_path.string(), "", daemon.path() / "client"};

    CliRun run(const std::vector<std::string>& words, const std::string& input = "") {
        settings.input = input;
        return run_cli(words, settings);
    }
    // Standard output without its last line end; fails the test unless the status is 0.
    std::string ask(const std::vector<std::string>& words);
    std::filesystem::path package(const std::string& text = "hello");
    std::string add_image(const std::string& name) {
        return ask({"image", "add", name, package(name).string()});
    }
};

}  // namespace svc::test

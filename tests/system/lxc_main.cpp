// The tests of real containers, skipped where there is no root, and the daemons that they kill.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "tests/support/skip.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<LxcRuntime> doomed_runtime(char** arguments, const Clock& clock, LxcOptions& options) {
    options.state_dir = arguments[2];
    options.bridge = arguments[3];
    options.subnet = arguments[4];
    use_launcher(options);
    return std::make_unique<LxcRuntime>(options, clock);
}

int churn(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    options.agent = arguments[5];
    const auto runtime = doomed_runtime(arguments, clock, options);
    for (;;) {
        runtime->create(LxcFixture::spec_in(options, "churned"));
        runtime->start("churned");
        std::ofstream(ending_mark(arguments[5])) << "stop";
        runtime->stop("churned", 1s);
        runtime->remove("churned");
        std::filesystem::remove(ending_mark(arguments[5]));
    }
}

int run_alone(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    const auto runtime = doomed_runtime(arguments, clock, options);
    runtime->create(LxcFixture::spec_in(options, "c1"));
    return runtime->run_once("c1", {"/bin/sleep", "61235"}, 60s, {});
}

int capture(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    doomed_runtime(arguments, clock, options)->layers().capture("version", "c1", {"/tmp/7"});
    return 0;
}

int export_again_and_again(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    const auto runtime = doomed_runtime(arguments, clock, options);
    for (;;) {
        const auto stream = runtime->layers().export_archive({{"base", "version"}, ""});
        while (!stream->read(10'000).empty()) {
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view task = count > 1 ? arguments[1] : "";
    if (count == 6 && task == "--churn") return churn(arguments);
    if (count == 5 && task == "--once") return run_alone(arguments);
    if (count == 5 && task == "--capture") return capture(arguments);
    if (count == 5 && task == "--export") return export_again_and_again(arguments);
    if (::geteuid() != 0 || ::access("/usr/sbin/nft", X_OK) != 0 || ::getenv("SVC_LXC_HELPER") == nullptr) {
        std::cerr << "skipped: needs root, nftables and SVC_LXC_HELPER\n";
        return 77;
    }
    return run_tests(count, arguments);
}

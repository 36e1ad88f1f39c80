// svcctl screenshot and record, of a streamer that the test plays.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "cli/actions/capture_file.h"
#include "libsvc/base/file.h"
#include "libsvc/model/instances/capture.h"
#include "tests/cli/daemon_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string box(const std::string& name, std::size_t bytes) {
    const std::size_t size = bytes + 8;
    return std::string{0, 0, static_cast<char>(size >> 8), static_cast<char>(size & 0xff)} + name +
           std::string(bytes, 'x');
}

const std::string fragments = box("ftyp", 8) + box("moov", 100) + box("moof", 50) + box("mdat", 300);

struct CaptureFixture {
    std::string bytes = "picture", end = capture_block(CaptureBlock::whole, "");
    std::string asked;
    TestDaemon daemon{[this](server::Options& options) {
        options.simulated.streamer = [this](const std::string& line,
                                            const std::function<bool(std::string_view)>& send) {
            asked = line;
            send(capture_block(CaptureBlock::data, bytes) + end);
        };
    }};
    CliSettings settings{daemon.local_target().unix_path.string(), "", daemon.path() / "client"};
    std::string target = (daemon.path() / "out/file").string();

    CaptureFixture() {
        std::filesystem::create_directory(daemon.path() / "out");
        daemon.api().add_image("base", image_package());
        daemon.api().succeed(daemon.api().post(
            "/1.0/instances",
            Json::object({{"image_id", "base"}, {"name", "phone"}, {"instance_type", "a2.3"}})));
    }
    CliRun run(const std::vector<std::string>& words) { return run_cli(words, settings); }
    std::size_t files() const {
        const std::filesystem::directory_iterator all(daemon.path() / "out");
        return static_cast<std::size_t>(std::distance(begin(all), end_of(all)));
    }
    static std::filesystem::directory_iterator end_of(const std::filesystem::directory_iterator&) {
        return {};
    }
};

}  // namespace

TEST_CASE_METHOD(CaptureFixture, "a screenshot becomes a file, or goes to what takes it") {
    const CliRun done = run({"screenshot", "phone", "--output", target});
    CHECK(done.err.empty());
    CHECK(done.status == 0);
    CHECK(done.out == target + "\n");
    CHECK(read_file(target) == "picture");
    CHECK(files() == 1);
    CHECK(run({"screenshot", "phone"}).out == "picture");
    bytes = "newer";
    CHECK(run({"screenshot", "phone", "--output", target}).status == 0);
    CHECK(read_file(target) == "newer");
}

TEST_CASE_METHOD(CaptureFixture, "a screenshot that fails leaves the older file as it is") {
    write_file_atomically(target, "older");
    end = capture_block(CaptureBlock::failed, "the display is gone");
    CHECK(run({"screenshot", "phone", "--output", target}).status != 0);
    bytes = "";
    const CliRun failed = run({"screenshot", "phone", "--output", target});
    CHECK(failed.status == 1);
    CHECK_THAT(failed.err, Catch::Contains("cannot be captured: the display is gone"));
    CHECK(read_file(target) == "older");
    CHECK(files() == 1);
}

TEST_CASE_METHOD(CaptureFixture, "what is no file is not replaced") {
    REQUIRE(::mkfifo(target.c_str(), 0600) == 0);
    const CliRun refused = run({"screenshot", "phone", "--output", target});
    CHECK(refused.status != 0);
    CHECK_THAT(refused.err, Catch::Contains("is there and is no file"));
    CHECK(run({"screenshot", "phone", "--output", "/absent/x.png"}).status == 1);
}

TEST_CASE("a terminal gets no picture") {
    const FileDescriptor terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(terminal);
    const cli::Console console(0, terminal.get(), 2);
    CHECK_THROWS_AS(cli::CaptureFile(console, ""), cli::UsageError);
}

TEST_CASE_METHOD(CaptureFixture, "a recording keeps what is whole") {
    bytes = fragments + box("moof", 50).substr(0, 20);
    CHECK(run({"record", "phone", "--output", target, "--duration", "90"}).status == 0);
    CHECK(asked == R"({"take":"recording","seconds":90})");
    CHECK(read_file(target) == fragments);
    CHECK(run({"record", "phone", "--output", target, "--duration", "5m"}).status == 0);
    CHECK(asked == R"({"take":"recording","seconds":300})");
    CHECK(run({"record", "phone", "--output", target}).status == 0);
    CHECK(asked == R"({"take":"recording","seconds":3600})");
}

TEST_CASE_METHOD(CaptureFixture, "a recording that is broken off is an error, and its file has what came") {
    bytes = fragments + "tail";
    end = "";
    CHECK(run({"record", "phone", "--output", target}).status != 0);
    CHECK(read_file(target) == fragments);
    CHECK(files() == 1);
    bytes = "no fragments";
    end = capture_block(CaptureBlock::whole, "");
    const CliRun nothing = run({"record", "phone", "--output", target});
    CHECK(nothing.status != 0);
    CHECK_THAT(nothing.err, Catch::Contains("nothing was recorded"));
    CHECK(read_file(target) == fragments);
}

TEST_CASE_METHOD(CaptureFixture, "what is no duration is a wrong command line") {
    const std::string duration = GENERATE("0", "0s", "2h", "3601", "soon", "-5", "");
    const CliRun wrong = run({"record", "phone", "--output", target, "--duration", duration});
    CHECK(wrong.status == 2);
    CHECK_THAT(wrong.err, Catch::Contains("is not a duration from 1s to 1h"));
}

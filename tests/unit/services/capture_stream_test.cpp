// The limits of what a guest may send as a picture or a recording.
#include "libsvc/services/captures/capture_stream.h"

#include <sys/eventfd.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/runtime/simulated/simulated_command.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

using Send = std::function<bool(std::string_view)>;

// A streamer that sends `bytes`, and then nothing until the test lets it go.
struct PlayedStreamer {
    std::string bytes;
    bool stays = true;  // false: it closes the connection at once
    std::promise<void> leave;
    std::shared_future<void> left = leave.get_future().share();
    SystemClock clock;
    std::weak_ptr<SimulatedCommand> command;
    std::shared_ptr<FileDescriptor> stopped = std::make_shared<FileDescriptor>(eventfd(0, EFD_CLOEXEC));
    std::shared_ptr<int> turn = std::make_shared<int>();
    std::unique_ptr<CaptureStream> stream;

    explicit PlayedStreamer(std::string sent) : bytes(std::move(sent)) {}
    ~PlayedStreamer() {
        leave.set_value();
        stream.reset();
    }
    CaptureStream& open(CaptureLimits limits = {}) {
        ExecSpec spec;
        spec.command = {"/svc-agent", "connect"};
        CaptureStream::Parts parts;
        parts.process = start_simulated_command(
            clock, spec,
            [this](const std::string&, const Send& send) {
                send(bytes);
                if (stays) left.wait();
            },
            command);
        parts.noun = "container c1";
        parts.limits = limits;
        parts.stopped = stopped;
        parts.turn = turn;
        stream = std::make_unique<CaptureStream>(std::move(parts));
        return *stream;
    }
};

std::string data(const std::string& bytes) {
    return capture_block(CaptureBlock::data, bytes);
}

}  // namespace

TEST_CASE("a streamer that sends nothing is not waited for without end") {
    PlayedStreamer streamer("");
    CaptureStream& stream = streamer.open({5ms, 1h, 1000});
    CHECK(message_of([&] { stream.begin({}); }) == "container c1 cannot be captured: nothing comes any more");
}

TEST_CASE("a streamer that falls silent ends its capture, and so does the end of the time") {
    const CaptureLimits limits = GENERATE(CaptureLimits{5ms, 1h, 1000}, CaptureLimits{1h, 5ms, 1000});
    PlayedStreamer streamer(data("half"));
    CaptureStream& stream = streamer.open(limits);
    // The time may be over before its first bytes are here.
    CHECK(code_of([&] {
              stream.begin({});
              while (!stream.read(100).empty()) {
              }
          }) == ErrorCode::unavailable);
}

TEST_CASE("a client that takes its time is not the streamer's silence") {
    PlayedStreamer streamer(data(std::string(100'000, 'x')));  // more than one read of the pipe
    CaptureStream& stream = streamer.open({500ms, 1h, 1'000'000});
    stream.begin({});
    const auto later = std::chrono::steady_clock::now() + 600ms;
    std::size_t taken = stream.read(1'000'000).size();
    eventually("longer than the streamer may be silent",
               [&] { return std::chrono::steady_clock::now() >= later; });
    while (taken < 100'000) taken += stream.read(1'000'000).size();
    CHECK(taken == 100'000);
}

TEST_CASE("blocks without bytes are silence") {
    std::string empty;
    for (int i = 0; i < 1000; ++i) empty += data("");
    PlayedStreamer streamer(empty);
    CHECK(message_of([&] {
              streamer.open({50ms, 1h, 1'000'000}).begin({});
          }) == "container c1 cannot be captured: nothing comes any more");
}

TEST_CASE("what its time does not hold ends, also while bytes come") {
    PlayedStreamer streamer(data("half"));
    CaptureStream& stream = streamer.open({1h, 0ms, 1000});
    CHECK(message_of([&] { stream.begin({}); }) == "container c1 cannot be captured: it takes too long");
}

TEST_CASE("no more than its bytes are taken of a streamer") {
    PlayedStreamer streamer(data(std::string(1000, 'x')));
    CHECK(message_of([&] {
              streamer.open({1h, 1h, 999}).begin({});
          }) == "container c1 cannot be captured: it sends too much");
}

TEST_CASE("a capture that goes on ends with the service") {
    PlayedStreamer streamer(data("half"));
    CaptureStream& stream = streamer.open();
    stream.begin({});
    CHECK(stream.read(100) == "half");
    std::jthread ends([&] { eventfd_write(streamer.stopped->get(), 1); });
    CHECK(message_of([&] { stream.read(100); }) == "the service ends");
}

TEST_CASE("an end that nobody tells of is an error, before the first bytes and after them") {
    PlayedStreamer silent(""), half(data("half"));
    silent.stays = half.stays = false;
    CHECK(message_of([&] { silent.open().begin({}); }) ==
          "container c1 does not stream: no streamer is ready in it");
    CaptureStream& stream = half.open();
    stream.begin({});
    CHECK(stream.read(2) == "ha");
    CHECK(stream.read(100) == "lf");
    CHECK(message_of([&] { stream.read(100); }) ==
          "container c1 cannot be captured: its streamer has broken off");
}

TEST_CASE("a capture that is whole gives its turn away") {
    PlayedStreamer streamer(data("all") + capture_block(CaptureBlock::whole, ""));
    CaptureStream& stream = streamer.open();
    const std::weak_ptr<int> turn = std::exchange(streamer.turn, nullptr);
    stream.begin({});
    CHECK(stream.read(100) == "all");
    CHECK(stream.read(100).empty());
    CHECK(turn.expired());
}

TEST_CASE("the limits of a recording grow with its length") {
    const CaptureLimits picture = CaptureLimits::of({});
    const CaptureLimits minute = CaptureLimits::of({CaptureRequest::Kind::recording, 60s});
    CHECK(minute.time - picture.time == 60s);
    CHECK(minute.bytes - picture.bytes == 60U * (2U << 20));
    CHECK(minute.silence == picture.silence);
}

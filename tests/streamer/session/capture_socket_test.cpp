// The socket for screenshots and recordings, with captures that a test plays.
#include "instance-agent/streamer/capture/capture_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <future>
#include <mutex>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

const std::string take_screenshot = R"({"take":"screenshot"})"
                                    "\n";
const std::string take_recording = R"({"take":"recording","seconds":5})"
                                   "\n";

// A client of the socket, as the service is one.
class Asker {
  public:
    Asker(const std::filesystem::path& path, const std::string& request)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        REQUIRE(::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(request.size()));
    }
    // Until it ends, or `count` bytes of data are here.
    std::string data(std::size_t count = std::string::npos) {
        std::string all;
        while (!blocks_.is_whole() && all.size() < count) {
            char piece[1000];
            const ssize_t got = ::recv(socket_.get(), piece, sizeof(piece), 0);
            if (got <= 0) throw Error(ErrorCode::unavailable, "broken off");
            all += blocks_.take({piece, static_cast<std::size_t>(got)});
        }
        return all;
    }

  private:
    FileDescriptor socket_;
    CaptureBlocks blocks_;
};

// Recordings go on until they are stopped.
struct CapturePlace {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-captures-"};
    std::filesystem::path path = folder.path() / "screen";
    std::atomic<int> recordings = 0, ended = 0;
    std::atomic<std::int64_t> width = 0, length = 0;
    std::unique_ptr<CaptureSocket> socket;

    CapturePlace() {
        Captures captures;
        captures.screenshot = [this](const CaptureSetup& setup, const ByteSink& sink,
                                     const std::stop_token&) {
            width = setup.width;
            sink(std::string(largest_capture_block + 5, 'p'));
        };
        captures.record = [this](const CaptureSetup&, std::chrono::milliseconds wanted, const ByteSink& sink,
                                 const std::stop_token& stop) {
            length = wanted.count();
            ++recordings;
            record(sink, stop);
        };
        socket = std::make_unique<CaptureSocket>(path, std::move(captures));
        socket->show({{":0", "", ""}, 640, 480});
    }
    void record(const ByteSink& sink, const std::stop_token& stop) {
        struct End {
            std::atomic<int>& count;
            ~End() { ++count; }
        } const end{ended};
        sink("begin ");
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        while (!changed.wait_for(lock, stop, std::chrono::milliseconds(20),
                                 [&] { return stop.stop_requested(); }))
            sink(".");
        sink(" end");
    }
};

}  // namespace

TEST_CASE_METHOD(CapturePlace, "a screenshot comes whole, of the screen of now") {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(Asker(path, take_screenshot).data() == std::string(largest_capture_block + 5, 'p'));
    CHECK(width == 640);
    socket->show({{":0", "", ""}, 800, 600});
    Asker(path, take_screenshot).data();
    CHECK(width == 800);
}

TEST_CASE_METHOD(CapturePlace, "one recording goes on at a time, and screenshots beside it") {
    {
        Asker first(path, take_recording);
        first.data(6);
        CHECK(length == 5000);
        CHECK(test::message_of([&] { Asker(path, take_recording).data(); }) ==
              "it is being recorded already");
        CHECK(test::code_of([&] { Asker(path, take_recording).data(); }) == ErrorCode::busy);
        CHECK_FALSE(Asker(path, take_screenshot).data().empty());
    }
    CHECK(test::eventually([&] { return ended == 1; }));  // its client has gone
    CHECK(Asker(path, take_recording).data(6).starts_with("begin "));
}

TEST_CASE_METHOD(CapturePlace, "a recording ends when the size of the screen changes, and whole") {
    Asker asker(path, take_recording);
    asker.data(6);
    socket->show({{":0", "", ""}, 640, 480});
    asker.data(1);
    socket->show({{":0", "", ""}, 480, 640});
    CHECK(asker.data().ends_with(" end"));
}

TEST_CASE_METHOD(CapturePlace, "a socket that ends lets the recording end, and goes") {
    Asker asker(path, take_recording);
    asker.data(6);
    std::jthread end([&] { socket.reset(); });
    CHECK(asker.data().ends_with(" end"));
    end.join();
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE_METHOD(CapturePlace, "what is no request is refused, and the next one is heard") {
    const std::string request = GENERATE("\n", "{}\n", "no json\n",
                                         R"({"take":"money"})"
                                         "\n",
                                         R"({"take":"recording"})"
                                         "\n",
                                         R"({"take":"recording","seconds":0})"
                                         "\n",
                                         R"({"take":"recording","seconds":3601})"
                                         "\n");
    CHECK(test::code_of([&] { Asker(path, request).data(); }) == ErrorCode::unavailable);
    CHECK(test::code_of([&] { Asker(path, std::string(1000, 'x')).data(); }) == ErrorCode::unavailable);
    CHECK(recordings == 0);
    CHECK_FALSE(Asker(path, take_screenshot).data().empty());
}

TEST_CASE("why a capture fails is told") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-captures-");
    Captures captures;
    captures.screenshot = [](const CaptureSetup&, const ByteSink& sink, const std::stop_token&) {
        sink("half");
        throw Error(ErrorCode::unavailable, "the guest has drawn nothing\n");
    };
    CaptureSocket socket(folder.path() / "screen", std::move(captures));
    const auto failure = [&] {
        return test::message_of([&] { Asker(folder.path() / "screen", take_screenshot).data(); });
    };
    CHECK(failure() == "the streamer is starting");
    socket.show({{":0", "", ""}, 640, 480});
    CHECK(failure() == "the guest has drawn nothing");
}

}  // namespace svc::streamer

// What a video of 1080p at 30 frames a second costs the agent: from a writer's socket to the memory of a
// guest that looks at all of it. Beside it what `cat` needs to read the same bytes from a socket. Usage:
// camera-bench [SECONDS]
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instance-agent/agent/devices/camera/camera_feed.h"
#include "instance-agent/agent/devices/camera/video_socket.h"

using namespace svc;

namespace {

constexpr agent::Resolution size{1920, 1080};
constexpr int rate = 30;

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double processor_seconds(const rusage& use) {
    return seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
}

// Gives each frame back at once.
class Watcher final : public agent::GuestSession {
  public:
    std::uint64_t id() const override { return 1; }
    uid_t uid() const override { return 0; }
    bool may_control() const override { return true; }
    bool open() const override { return true; }
    void send_event(const Json&) override {}
    bool send_frame(std::uint16_t stream, std::string_view header) override {
        std::uint32_t slot = 0;
        std::memcpy(&slot, header.data() + 28, 4);
        ++frames;
        feed->give_back(*this, stream, slot);
        return true;
    }
    agent::CameraFeed* feed = nullptr;
    std::atomic<int> frames{0};
};

void write_frames(int socket, int seconds) {
    const std::string frame(size.bytes(), '\x7F');
    SystemClock clock;
    const SteadyTime begin = clock.steady_now();
    for (int number = 0; number < seconds * rate; ++number) {
        clock.wait({}, begin + std::chrono::seconds(1) * number / rate - clock.steady_now());
        for (std::size_t at = 0; at < frame.size();) {
            const ssize_t sent = ::send(socket, frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
            if (sent <= 0) _exit(1);
            at += static_cast<std::size_t>(sent);
        }
    }
}

pid_t start_writer(int socket, int seconds) {
    const pid_t child = fork();
    if (child == 0) {
        write_frames(socket, seconds);
        _exit(0);
    }
    ::close(socket);
    return child;
}

int connect_to(const std::filesystem::path& path) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    return socket;
}

double measure_agent(int seconds, int& frames) {
    const TemporaryDirectory place(std::filesystem::temp_directory_path());
    SystemClock clock;
    MetricsRegistry metrics;
    agent::StreamLink link;
    agent::CameraFeed feed(clock, metrics, std::make_shared<agent::Screen>(), link);
    const auto watcher = std::make_shared<Watcher>();
    watcher->feed = &feed;
    const agent::VideoSocket video(place.path(), feed);
    feed.open(watcher, size, rate);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const pid_t writer = start_writer(connect_to(video.path()), seconds);
    waitpid(writer, nullptr, 0);
    getrusage(RUSAGE_SELF, &after);
    feed.leave(*watcher);
    frames = watcher->frames;
    return processor_seconds(after) - processor_seconds(before);
}

double measure_cat(int seconds) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::abort();
    const pid_t cat = fork();
    if (cat == 0) {
        ::dup2(pair[0], 0);
        if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
        ::execlp("cat", "cat", nullptr);
        _exit(1);
    }
    ::close(pair[0]);
    const pid_t writer = start_writer(pair[1], seconds);
    rusage use{};
    ::wait4(cat, nullptr, 0, &use);
    waitpid(writer, nullptr, 0);
    return processor_seconds(use);
}

}  // namespace

int main(int count, char** arguments) {
    const int seconds = count > 1 ? std::atoi(arguments[1]) : 10;
    if (seconds <= 0) return 2;
    int frames = 0;
    const double agent = measure_agent(seconds, frames);
    const double cat = measure_cat(seconds);
    std::printf("1080p at %d frames a second for %d s: %d frames told to the guest\n", rate, seconds, frames);
    std::printf("agent: %.1f %% of one core\n", agent / seconds * 100);
    std::printf("cat:   %.1f %% of one core\n", cat / seconds * 100);
    std::printf("ratio: %.2f\n", agent / cat);
    return 0;
}

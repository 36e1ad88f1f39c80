// What a stream costs and how late it is, without a gateway. Usage: stream-bench cpu|glass [--codec H264|VP8]
// [--width N] [--height N] [--fps N] [--seconds N]. Prints one JSON object.
// cpu: processor time of a process that streams a moving picture, and of a bare gst-launch pipeline that
// encodes the same frames from the same kind of socket with the same settings. glass: from the moment the
// guest begins to write a frame with a flipped square to its decoded pixels at the client, all in this
// process.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "instance-agent/streamer/media/codec_forms.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "tests/streamer/media_pair.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

struct Options {
    VideoCodec codec = VideoCodec::h264;
    int width = 1280, height = 720, fps = 30, seconds = 10;
};

// A desktop in use: a still ground, a window of changing text that covers a quarter of it, a moving square.
std::vector<std::string> moving_picture(const Options& options, bool header) {
    std::vector<std::string> frames(static_cast<std::size_t>(options.fps));
    unsigned seed = 1;
    for (std::size_t number = 0; number < frames.size(); ++number) {
        std::string& frame = frames[number];
        if (header) frame = frame_header(options.width, options.height);
        const int left = static_cast<int>(number) * options.width / 2 / options.fps;
        for (int y = 0; y < options.height; ++y)
            for (int x = 0; x < options.width; ++x) {
                const bool text = x > options.width / 2 && y > options.height / 2 && y % 16 < 10;
                const bool square = x >= left && x < left + 100 && y > 100 && y < 200;
                if (text && x % 4 == 0) seed = seed * 1103515245U + 12345U;
                const auto value = static_cast<char>(square ? 0xe0
                                                     : text ? (seed >> 16 & 1U) * 0xff
                                                            : x / 8 % 0x80);
                frame +=
                    {value, static_cast<char>(square ? 0x20 : value), static_cast<char>(value / 2), '\xff'};
            }
    }
    return frames;
}

// `write` gets each frame at its time.
void play(const Options& options, const std::vector<std::string>& frames,
          const std::function<bool(std::string_view)>& write) {
    SystemClock clock;
    const SteadyTime begin = clock.steady_now();
    for (int number = 0; number < options.seconds * options.fps; ++number) {
        clock.wait({}, begin + std::chrono::nanoseconds(1s) * number / options.fps - clock.steady_now());
        if (!write(frames[static_cast<std::size_t>(number) % frames.size()])) return;
    }
}

double processor_seconds(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void write_all_to(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) throw Error(ErrorCode::unavailable, "the measured process has ended");
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

std::string pipeline_of(const Options& options, std::uint32_t kbps) {
    std::string encoder =
        encoder_description(options.codec, {options.width, options.height, options.fps}, kbps);
    encoder = encoder.substr(0, encoder.find(" ! rtp"));
    std::ostringstream text;
    text << "fdsrc fd=0 blocksize=" << options.width * options.height * 4
         << " ! rawvideoparse format=rgba width=" << options.width << " height=" << options.height
         << " framerate=" << options.fps << "/1 ! videoconvert ! video/x-raw,format=I420 ! " << encoder
         << " ! fakesink sync=false";
    return text.str();
}

// gst-launch with its standard input as the socket of the frames.
double bare_pipeline(const Options& options, std::uint32_t kbps) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw system_error("socketpair", errno);
    const FileDescriptor ours(ends[0]);
    const std::string pipeline = "exec gst-launch-1.0 -q " + pipeline_of(options, kbps);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 0);
        execl("/bin/sh", "sh", "-c", pipeline.c_str(), nullptr);
        _exit(127);
    }
    close(ends[1]);
    play(options, moving_picture(options, false),
         [&](std::string_view frame) { return write_all_to(ours.get(), frame), true; });
    const double spent = processor_seconds(child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return spent;
}

// The side that is measured: a peer in a process of its own, which speaks JSON lines over `fd`.
class LineEvents final : public PeerEvents {
  public:
    explicit LineEvents(int fd) : fd_(fd) {}
    void local_offer(const std::string& sdp) override { say(Json::object({{"offer", sdp}})); }
    void local_candidate(const std::string& candidate, unsigned line) override {
        say(Json::object({{"candidate", candidate}, {"line", line}}));
    }
    void connected() override {}
    void failed(const std::string&) override {}
    void channel_opened(const std::string&) override {}
    void channel_closed(const std::string&) override {}
    void channel_message(const std::string&, bool, std::string_view) override {}
    void say(const Json& json) {
        std::lock_guard lock(mutex_);
        write_all_to(fd_, json.dump() + "\n");
    }

  private:
    int fd_;
    std::mutex mutex_;
};

void each_line(int fd, const std::function<void(const Json&)>& handle) {
    std::string text;
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = read(fd, bytes.data(), bytes.size())) > 0;) {
        text.append(bytes.data(), static_cast<std::size_t>(count));
        for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
            handle(Json::parse(text.substr(0, end)));
    }
}

PeerSetup setup_of(const Options& options, const std::string& frames) {
    start_media();
    PeerSetup setup;
    setup.settings.preferred_codecs = {options.codec};
    setup.settings.speaker = false;
    setup.places.frame_socket = frames;
    setup.width = options.width;
    setup.height = options.height;
    setup.fps = options.fps;
    return setup;
}

[[noreturn]] void serve_peer(const Options& options, const std::string& frames, int fd) {
    LineEvents events(fd);
    Peer peer(setup_of(options, frames), events);
    each_line(fd, [&](const Json& said) {
        if (const Json* sdp = said.find("answer")) peer.set_answer(sdp->as_string());
        if (const Json* candidate = said.find("candidate"))
            peer.add_candidate(candidate->as_string(), static_cast<unsigned>(said.at("line").as_int()));
        if (said.find("stats") == nullptr) return;
        const StreamStats stats = stats_of(peer, "video");
        events.say(Json::object({{"frames", stats.frames_encoded},
                                 {"encode_ms", stats.total_encode_time * 1000},
                                 {"kbps", stats.target_bitrate / 1000}}));
    });
    _exit(0);
}

Json measure_cpu(const Options& options) {
    const TemporaryDirectory folder("/tmp", "svc-stream-bench-");
    const std::string frames = (folder.path() / "frames").string();
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw system_error("socketpair", errno);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        serve_peer(options, frames, ends[1]);
    }
    close(ends[1]);
    start_media();
    ClientWish wish;
    wish.decode = false;
    std::mutex mutex;
    const auto say = [&](const Json& json) {
        std::lock_guard lock(mutex);
        write_all_to(ends[0], json.dump() + "\n");
    };
    HeadlessClient client(wish, {[&](const std::string& sdp) {
                                     say(Json::object({{"answer", sdp}}));
                                 },
                                 [&](const std::string& candidate, unsigned line) {
                                     say(Json::object({{"candidate", candidate}, {"line", line}}));
                                 }});
    std::mutex figures_mutex;
    std::condition_variable came;
    Json figures;
    std::jthread reader([&] {
        each_line(ends[0], [&](const Json& said) {
            if (const Json* sdp = said.find("offer")) client.take_offer(sdp->as_string());
            if (const Json* candidate = said.find("candidate"))
                client.add_candidate(candidate->as_string(), static_cast<unsigned>(said.at("line").as_int()));
            if (said.find("frames") == nullptr) return;
            std::lock_guard lock(figures_mutex);
            figures = said;
            came.notify_all();
        });
    });
    if (!client.wait_frames(1, 20s)) throw Error(ErrorCode::unavailable, "no picture came");
    const auto pictures = moving_picture(options, true);
    FrameWriter guest(frames);
    const double before = processor_seconds(child);
    const std::uint64_t begin = client.frames();
    play(options, pictures, [&](std::string_view frame) { return guest.send_bytes(frame); });
    const double spent = processor_seconds(child) - before;
    const std::uint64_t received = client.frames() - begin;
    say(Json::object({{"stats", true}}));
    {
        std::unique_lock lock(figures_mutex);
        came.wait_for(lock, 10s, [&] { return !figures.is_null(); });
    }
    kill(child, SIGTERM);
    waitpid(child, nullptr, 0);
    shutdown(ends[0], SHUT_RDWR);
    reader.join();
    close(ends[0]);
    const auto kbps = static_cast<std::uint32_t>(figures.at("kbps").as_double());
    const double bare = bare_pipeline(options, kbps);
    return Json::object(
        {{"processor", spent / options.seconds},
         {"bare_processor", bare / options.seconds},
         {"frames_per_second", static_cast<double>(received) / options.seconds},
         {"kbps", kbps},
         {"encode_ms", figures.at("encode_ms").as_double() / figures.at("frames").as_double()}});
}

Json measure_glass(const Options& options) {
    MediaPair::Wish wish;
    wish.settings.preferred_codecs = {options.codec};
    wish.width = options.width;
    wish.height = options.height;
    wish.fps = options.fps;
    MediaPair pair(wish);
    pair.connect();
    if (!pair.client().wait_frames(1, 20s)) throw Error(ErrorCode::unavailable, "no picture came");
    FrameWriter guest(pair.frame_path());
    const std::array<std::string, 2> pictures{
        frame_of(options.width, options.height, {40, 60, 80}, Colour{230, 230, 230}),
        frame_of(options.width, options.height, {40, 60, 80}, Colour{10, 10, 10})};
    std::mutex mutex;
    std::condition_variable seen;
    bool bright = false;
    HeadlessClient::Moment at{};
    pair.client().on_picture([&](const ClientPicture& picture, HeadlessClient::Moment now) {
        const bool is = picture.at(picture.width / 2, picture.height / 2)[0] > 128;
        std::lock_guard lock(mutex);
        if (std::exchange(bright, is) == is) return;
        at = now;
        seen.notify_all();
    });
    SystemClock clock;
    std::vector<double> times;
    for (int flip = 0; flip < options.seconds * 5; ++flip) {
        clock.wait({}, std::chrono::milliseconds(100 + flip * 37 % 60));  // never in step with the encoder
        const bool wanted = flip % 2 == 0;
        const auto begin = HeadlessClient::Moment::clock::now();
        guest.send_bytes(pictures[wanted ? 0 : 1]);
        std::unique_lock lock(mutex);
        if (!seen.wait_for(lock, 2s, [&] { return bright == wanted && at > begin; })) continue;
        if (flip > 2) times.push_back(std::chrono::duration<double, std::milli>(at - begin).count());
    }
    pair.client().on_picture({});
    if (times.empty()) throw Error(ErrorCode::unavailable, "no flip was seen");
    std::sort(times.begin(), times.end());
    return Json::object({{"p50_ms", times[times.size() / 2]},
                         {"p99_ms", times[std::min(times.size() - 1, times.size() * 99 / 100)]},
                         {"flips", times.size()}});
}

Options read(int count, char** arguments) {
    Options options;
    for (int i = 2; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--codec") options.codec = value == "VP8" ? VideoCodec::vp8 : VideoCodec::h264;
        for (const auto& [option, target] : {std::pair{"--width", &options.width},
                                             {"--height", &options.height},
                                             {"--fps", &options.fps},
                                             {"--seconds", &options.seconds}})
            if (name == option) *target = std::atoi(value.c_str());
    }
    return options;
}

}  // namespace
}  // namespace svc::streamer

int main(int count, char** arguments) try {
    using namespace svc::streamer;
    const std::string what = count > 1 ? arguments[1] : "";
    if (what != "cpu" && what != "glass") throw svc::Error(svc::ErrorCode::invalid_argument, "cpu or glass");
    const Options options = read(count, arguments);
    std::puts((what == "cpu" ? measure_cpu(options) : measure_glass(options)).dump().c_str());
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "stream-bench: %s\n", e.what());
    return 1;
}

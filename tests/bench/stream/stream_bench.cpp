// What a stream costs and how late it is, without a gateway. Usage: stream-bench
// cpu|glass|screen|screen-glass
// [--codec H264|VP8|VP9] [--width N] [--height N] [--fps N] [--seconds N]. Prints one JSON object.
// cpu: processor time of a process that streams a moving picture, and of a bare gst-launch pipeline that
// encodes the same frames from the same kind of socket with the same settings. glass: from the moment the
// guest begins to write a frame with a flipped square to its decoded pixels at the client, all in this
// process. screen and screen-glass: the same with an X server's screen (screen_bench.h).
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

#include "instance-agent/streamer/media/video/codec_forms.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "tests/bench/stream/measured_peer.h"
#include "tests/bench/stream/screen_bench.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

using Options = BenchOptions;

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

// gst-launch with its standard input as the socket of the frames.
double bare_pipeline(const Options& options, std::uint32_t kbps) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw system_error("socketpair", errno);
    const FileDescriptor ours(ends[0]);
    FileDescriptor theirs(ends[1]);
    std::ostringstream source;
    source << "fdsrc fd=0 blocksize=" << options.width * options.height * 4
           << " ! rawvideoparse format=rgba width=" << options.width << " height=" << options.height
           << " framerate=" << options.fps << "/1";
    const BarePipeline bare(source.str(), options, kbps, theirs.get());
    theirs.reset();
    play(options, moving_picture(options, false),
         [&](std::string_view frame) { return write_all_to(ours.get(), frame), true; });
    return bare.processor();
}

Json measure_cpu(const Options& options) {
    const TemporaryDirectory folder("/tmp", "svc-stream-bench-");
    PeerSetup setup = peer_setup(options);
    setup.places.frame_socket = (folder.path() / "frames").string();
    MeasuredPeer peer(setup);
    const auto pictures = moving_picture(options, true);
    FrameWriter guest(setup.places.frame_socket);
    const double before = peer.processor();
    const std::uint64_t begin = peer.frames();
    play(options, pictures, [&](std::string_view frame) { return guest.send_bytes(frame); });
    const double spent = peer.processor() - before;
    const std::uint64_t received = peer.frames() - begin;
    const Json figures = peer.figures();
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
    MediaPair pair(pair_wish(options));
    pair.connect();
    if (!pair.client().wait_frames(1, 20s)) throw Error(ErrorCode::unavailable, "no picture came");
    FrameWriter guest(pair.frame_path());
    const std::array<std::string, 2> pictures{
        frame_of(options.width, options.height, {40, 60, 80}, Colour{230, 230, 230}),
        frame_of(options.width, options.height, {40, 60, 80}, Colour{10, 10, 10})};
    return time_flips(pair, options, 100ms, [&](bool bright) { guest.send_bytes(pictures[bright ? 0 : 1]); });
}

Options read(int count, char** arguments) {
    Options options;
    for (int i = 2; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--codec")
            options.codec = value == "VP9"   ? VideoCodec::vp9
                            : value == "VP8" ? VideoCodec::vp8
                                             : VideoCodec::h264;
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
    const std::map<std::string, std::function<svc::Json(const Options&)>> benches{
        {"cpu", measure_cpu},
        {"glass", measure_glass},
        {"screen", measure_screen},
        {"screen-glass", measure_screen_glass}};
    const auto bench = benches.find(what);
    if (bench == benches.end()) throw svc::Error(svc::ErrorCode::invalid_argument, "what is to be measured?");
    std::puts(bench->second(read(count, arguments)).dump().c_str());
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "stream-bench: %s\n", e.what());
    return 1;
}

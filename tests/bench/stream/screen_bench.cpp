#include "tests/bench/stream/screen_bench.h"

#include <algorithm>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "tests/bench/load/process_memory.h"
#include "tests/streamer/display/x_painter.h"
#include "tests/streamer/display/x_server.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

struct Share {
    double streamer = 0, server = 0, frames = 0;  // of one core; a second
    Json to_json() const {
        return Json::object({{"processor", streamer}, {"x_server", server}, {"frames_per_second", frames}});
    }
};

// `draw` is called at the session's frame rate.
void draw_on(const BenchOptions& options, const std::function<void(unsigned)>& draw) {
    SystemClock clock;
    const SteadyTime begin = clock.steady_now();
    for (int number = 0; number < options.seconds * options.fps; ++number) {
        clock.wait({}, begin + std::chrono::nanoseconds(1s) * number / options.fps - clock.steady_now());
        draw(static_cast<unsigned>(number));
    }
}

Share share_of(const BenchOptions& options, const MeasuredPeer& peer, const test::XServer& server,
               const std::function<void()>& action) {
    const double streamer = peer.processor(), x = processor_seconds(server.pid());
    const std::uint64_t frames = peer.frames();
    action();
    return {(peer.processor() - streamer) / options.seconds,
            (processor_seconds(server.pid()) - x) / options.seconds,
            static_cast<double>(peer.frames() - frames) / options.seconds};
}

void draw_square(test::XPainter& painter, const BenchOptions& options, unsigned number) {
    const int left = static_cast<int>(number) * 7 % (options.width - 100);
    painter.fill({230, 230, 230}, 0, 100, options.width, 100);
    painter.fill({30, 60, 200}, left, 100, 100, 100);
}

double bare_share(const BenchOptions& options, const test::XServer& server, std::uint32_t kbps) {
    const BarePipeline bare("ximagesrc use-damage=false show-pointer=true display-name=" + server.display() +
                                " ! video/x-raw,framerate=" + std::to_string(options.fps) + "/1",
                            options, kbps, 0);
    SystemClock().wait({}, 2s);
    const double before = bare.processor();
    SystemClock().wait({}, std::chrono::seconds(options.seconds));
    return (bare.processor() - before) / options.seconds;
}

}  // namespace

MediaPair::Wish pair_wish(const BenchOptions& options) {
    MediaPair::Wish wish;
    wish.settings.preferred_codecs = {options.codec};
    wish.width = options.width;
    wish.height = options.height;
    wish.fps = options.fps;
    return wish;
}

Json time_flips(MediaPair& pair, const BenchOptions& options, std::chrono::milliseconds pause,
                const std::function<void(bool bright)>& flip) {
    std::mutex mutex;
    std::condition_variable seen;
    bool bright = false;
    HeadlessClient::Moment at{};
    pair.client().on_picture([&](const ClientPicture& picture, HeadlessClient::Moment now) {
        const bool is =
            picture.at(picture.width * 3 / 8, picture.height * 3 / 8)[0] > 128;  // not the pointer's
        std::lock_guard lock(mutex);
        if (std::exchange(bright, is) == is) return;
        at = now;
        seen.notify_all();
    });
    SystemClock clock;
    std::vector<double> times;
    const auto flips = std::max<long>(options.seconds * 600ms / (pause + 20ms), 20);
    for (int number = 0; number < flips; ++number) {
        clock.wait({}, pause + std::chrono::milliseconds(number * 37 % 60));
        const bool wanted = number % 2 == 0;
        const auto begin = HeadlessClient::Moment::clock::now();
        flip(wanted);
        std::unique_lock lock(mutex);
        if (!seen.wait_for(lock, 2s, [&] { return bright == wanted && at > begin; })) continue;
        if (number > 2) times.push_back(std::chrono::duration<double, std::milli>(at - begin).count());
    }
    pair.client().on_picture({});
    if (times.empty()) throw Error(ErrorCode::unavailable, "no flip was seen");
    std::sort(times.begin(), times.end());
    return Json::object({{"p50_ms", times[times.size() / 2]},
                         {"p99_ms", times[std::min(times.size() - 1, times.size() * 99 / 100)]},
                         {"flips", times.size()}});
}

Json measure_screen(const BenchOptions& options) {
    const test::XServer server(options.width, options.height);
    PeerSetup setup = peer_setup(options);
    setup.places.display = server.display();
    MeasuredPeer peer(setup);
    test::XPainter painter(server.display(), options.width, options.height);
    painter.write_page(1);
    SystemClock clock;
    clock.wait({}, 5s);
    const Share still =
        share_of(options, peer, server, [&] { clock.wait({}, std::chrono::seconds(options.seconds)); });
    const std::string pid = std::to_string(peer.pid());
    const std::uint64_t rss = bench::memory_of(pid, "Rss"), pss = bench::memory_of(pid, "Pss");
    const Share square = share_of(options, peer, server, [&] {
        draw_on(options, [&](unsigned number) { draw_square(painter, options, number); });
    });
    const Share pages = share_of(options, peer, server, [&] {
        draw_on(options, [&](unsigned number) { painter.write_page(number); });
    });
    const auto kbps = static_cast<std::uint32_t>(peer.figures().at("kbps").as_double());
    return Json::object({{"still", still.to_json()},
                         {"square", square.to_json()},
                         {"pages", pages.to_json()},
                         {"rss_kib", rss},
                         {"pss_kib", pss},
                         {"bare_processor_still", bare_share(options, server, kbps)}});
}

Json measure_screen_glass(const BenchOptions& options) {
    const test::XServer server(options.width, options.height);
    MediaPair::Wish wish = pair_wish(options);
    wish.display = server.display();
    MediaPair pair(wish);
    pair.connect();
    if (!pair.client().wait_frames(1, 20s)) throw Error(ErrorCode::unavailable, "no picture came");
    test::XPainter painter(server.display(), options.width, options.height);
    painter.write_page(1);
    const auto flip = [&](bool bright) {
        painter.fill(bright ? test::XPainter::Colour{230, 230, 230} : test::XPainter::Colour{10, 10, 10},
                     options.width / 4, options.height / 4, options.width / 2, options.height / 2);
    };
    Json quick = time_flips(pair, options, 100ms, flip);
    return Json::object(
        {{"quick", std::move(quick)}, {"after_rest", time_flips(pair, options, 2000ms, flip)}});
}

}  // namespace svc::streamer

// svc-streamer streams the instance's screen to a client of the gateway and takes the client's input.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "instance-agent/streamer/display/display_loss.h"
#include "instance-agent/streamer/guest_display/guest_input.h"
#include "instance-agent/streamer/guest_display/guest_screen.h"
#include "instance-agent/streamer/input/no_input.h"
#include "instance-agent/streamer/input/with_pads.h"
#include "instance-agent/streamer/media/capture/media_captures.h"
#include "instance-agent/streamer/media/peer/gst_peer.h"
#include "instance-agent/streamer/media/peer/shared_video.h"
#include "instance-agent/streamer/media/sound/microphone_pipeline.h"
#include "instance-agent/streamer/media/sound/shared_sound.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/pads/pad_server.h"
#include "instance-agent/streamer/streamer.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace {

using namespace svc;
using namespace svc::streamer;
using namespace std::chrono_literals;

// Blocks the signals in every thread: only sigwait() takes them.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    return signals;
}

bool signal_came(const sigset_t& signals, std::chrono::milliseconds within) {
    const timespec limit{within.count() / 1000, within.count() % 1000 * 1'000'000};
    return sigtimedwait(&signals, nullptr, &limit) > 0;
}

// What a program of the guest draws. Null: the display is that of an X server.
std::shared_ptr<GuestDisplay> make_guest_display(const Options& options, const StreamStart& start) {
    if (!options.display.empty()) return nullptr;
    const ScreenSize size = allowed_size(start.width, start.height);
    return std::make_shared<GuestDisplay>(options.display_socket,
                                          DisplayMode{size.width, size.height, start.density, start.fps});
}

// Waits for the guest's X server. Null: a signal came meanwhile.
std::unique_ptr<Screen> await_screen(const Options& options, const std::shared_ptr<GuestDisplay>& guest,
                                     const sigset_t& signals) {
    if (guest) return make_guest_screen(guest);
    for (auto pause = 250ms;; pause = std::min<std::chrono::milliseconds>(pause * 2, 5s)) {
        try {
            return make_x_screen(options.display);
        } catch (const Error& e) {
            log::info("waiting for the display", {{"reason", e.what()}});
        }
        if (signal_came(signals, pause)) return nullptr;
    }
}

// Devices of the kernel, or else names that programs open by libsvcgamepad. Null: neither is there.
DeviceMaker find_pads(const Options& options) try {
    if (access("/dev/uinput", W_OK) == 0) return make_uinput_device;
    if (!options.gamepad_directory.empty()) return served_pads(options.gamepad_directory);
    return nullptr;
} catch (const Error& e) {
    log::warning("the client's gamepads go nowhere", {{"reason", e.what()}});
    return nullptr;
}

// An X server takes no gamepads.
std::unique_ptr<InputSink> make_x_input(const Options& options) {
    auto sink = make_xtest_input(options.display);
    const DeviceMaker pads = find_pads(options);
    return pads ? with_pads(std::move(sink), pads) : std::move(sink);
}

// Without X and devices of the kernel, the program that draws the display is all there is.
std::unique_ptr<InputSink> find_input(const Options& options, const ScreenSize& size,
                                      const std::shared_ptr<GuestDisplay>& guest) try {
    return guest ? make_uinput_input(size.width, size.height) : make_x_input(options);
} catch (const Error& e) {
    if (guest) {
        log::info("input goes to the program that draws the display", {{"reason", e.what()}});
        return make_guest_input(guest);
    }
    log::warning("the client's input goes nowhere", {{"reason", e.what()}});
    return make_no_input();
}

std::unique_ptr<InputSink> make_input(const Options& options, const StreamStart& start,
                                      const std::shared_ptr<GuestDisplay>& guest) {
    const ScreenSize size = allowed_size(start.width, start.height);
    switch (options.input) {
        case InputKind::xtest:
            return make_x_input(options);
        case InputKind::uinput:
            return make_uinput_input(size.width, size.height);
        case InputKind::guest:
            return make_guest_input(guest);
        case InputKind::none:
            return make_no_input();
        case InputKind::automatic:
            break;
    }
    return find_input(options, size, guest);
}

// The streamer runs on a thread of its own while this one waits for signals. The one that ends first wakes
// the other.
void serve(Streamer& streamer, const sigset_t& signals) {
    const pthread_t waiting = pthread_self();
    std::jthread work([&] {
        streamer.run();
        pthread_kill(waiting, SIGUSR1);
    });
    int number = 0;
    sigwait(&signals, &number);
    if (number != SIGUSR1) streamer.stop();
}

// Reports the failure to the gateway, so that the session ends with an error instead of waiting for a stream.
void report_failure(const StreamStart& start, const std::string& why) {
    constexpr auto patience = 20s;
    SystemClock clock;
    EventQueue queue(clock);
    GatewayLink link(start.gateway, clock, {[&queue] { queue.stop(); }, [](const std::string&) {}, [] {}});
    queue.after(patience, [&queue] { queue.stop(); });
    queue.run();
    link.send(register_message(start, {}).dump());
    link.send(Json::object({{"type", "ctl:status"}, {"status", "error"}, {"message", why}}).dump());
}

int list_codecs() {
    start_media();
    for (const VideoCodec codec : encodable_codecs(VideoEncoder::gpu_preferred))
        std::puts((std::string(to_text(codec)) + " " +
                   std::string(find_encoder(codec, VideoEncoder::gpu_preferred)->element))
                      .c_str());
    return 0;
}

void stream(const Options& options, const InstanceFacts& facts, const StreamStart& start) {
    const sigset_t signals = block_signals();
    start_media();
    const auto encoders = std::make_shared<DisplayEncoders>();
    StreamerParts parts{options,
                        start,
                        facts,
                        encodable_codecs(facts.encoder),
                        {},
                        {},
                        [encoders](PeerSetup setup, PeerEvents& events) {
                            return std::make_unique<GstPeer>(std::move(setup), events, encoders);
                        },
                        media_captures()};
    parts.open_video = shared_video(encoders);
    parts.open_sound = shared_sound();
    parts.open_microphone = [](const std::string& audio_server) {
        return std::make_unique<MicrophonePipeline>(audio_server);
    };
    parts.guest_display = make_guest_display(options, start);
    parts.screen = await_screen(options, parts.guest_display, signals);
    if (!parts.screen) return;
    parts.input = make_input(options, start, parts.guest_display);
    if (!options.display.empty())
        parts.make_clipboard = [&options](ClipboardEvents events) {
            return make_x_clipboard(options.display, std::move(events));
        };
    SystemClock clock;
    Streamer streamer(std::move(parts), clock);
    const DisplayLoss listening([&streamer] { streamer.display_lost(); });
    serve(streamer, signals);
}

int run(const Options& options) {
    if (options.list_codecs) return list_codecs();
    log::set_level(log::parse_level(options.log_level));
    std::error_code ignored;
    const bool has_data = std::filesystem::exists(options.user_data, ignored);
    const InstanceFacts facts = read_session(options.session);
    auto start = has_data ? read_user_data(facts.platform, read_file(options.user_data)) : std::nullopt;
    if (!start) {
        log::info("nobody streams: the platform does not, or the user data has no streaming",
                  {{"platform", facts.platform}});
        return 0;
    }
    try {
        stream(options, facts, *start);
    } catch (const Error& e) {
        report_failure(*start, e.what());
        throw;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto options = parse_options(argc, argv);
        return options ? run(*options) : 0;
    } catch (const Error& e) {
        std::fprintf(stderr, "svc-streamer: %s\n", e.what());
        return e.code() == ErrorCode::invalid_argument ? 2 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "svc-streamer: %s\n", e.what());
        return 1;
    }
}

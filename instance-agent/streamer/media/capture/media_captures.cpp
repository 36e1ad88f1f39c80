#include "instance-agent/streamer/media/capture/media_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "instance-agent/streamer/media/capture/capture_pipeline.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 10s;  // for the first picture
constexpr auto step = 50ms;
constexpr auto last_pictures = 300ms;  // of a recording, so that its last picture is that of its end

void screenshot(const CaptureSetup& setup, const ByteSink& sink, const std::stop_token& stop) {
    CapturePipeline pipeline(setup.places,
                             {{setup.width, setup.height, recorded_fps},
                              Pointer::hidden,
                              FirstFrame::none,
                              "videoconvertscale ! video/x-raw,format=RGB ! pngenc snapshot=true"});
    const auto end = Clock::now() + patience;
    for (;;) {
        const auto bytes = pipeline.read(step);
        if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the streamer ends");
        if (!bytes && Clock::now() >= end) throw Error(ErrorCode::unavailable, "the guest has drawn nothing");
        if (!bytes) continue;
        if (bytes->empty()) return;
        sink(*bytes);
    }
}

// The encoder is the processor's, whatever encodes the stream. Its pictures have a constant quality, below a
// bitrate that any browser can play. A queue of one picture: a slow reader, or a slow processor, gets fewer
// pictures and never holds many.
std::string recording_elements(const CaptureSetup& setup) {
    return fmt::format(
        "queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream "
        "! videoconvertscale add-borders=true "
        "! video/x-raw,format=I420,width={},height={},pixel-aspect-ratio=1/1,colorimetry={} "
        "! x264enc name=encoder tune=zerolatency speed-preset=superfast pass=qual quantizer=23 bitrate=8000 "
        "vbv-buf-capacity=1000 key-int-max={} threads=1 "
        "! video/x-h264,profile=constrained-baseline,stream-format=avc,alignment=au "
        "! mp4mux fragment-duration=500 streamable=true",
        setup.width, setup.height, setup.height > 576 ? "bt709" : "bt601", recorded_fps * 2);
}

void record(const CaptureSetup& setup, std::chrono::milliseconds length, const ByteSink& sink,
            const std::stop_token& stop) {
    CapturePipeline pipeline(setup.places, {{setup.width, setup.height, recorded_fps},
                                            Pointer::shown,
                                            FirstFrame::black,
                                            recording_elements(setup)});
    auto end = Clock::now() + length;
    bool hurried = false;
    std::optional<Clock::time_point> finished;
    for (;;) {
        const auto now = Clock::now();
        if (stop.stop_requested()) end = std::min(end, now);
        if (now >= end - last_pictures && !std::exchange(hurried, true)) pipeline.hurry();
        if (now >= end && !finished) {
            pipeline.finish();
            finished = now;
        }
        if (finished && now >= *finished + patience)
            throw Error(ErrorCode::unavailable, "the recording does not end");
        const auto bytes = pipeline.read(step);
        if (bytes && bytes->empty()) return;
        if (bytes) sink(*bytes);
    }
}

}  // namespace

Captures media_captures() {
    return {screenshot, record};
}

}  // namespace svc::streamer

#pragma once
// A peer in a process of its own, whose processor time is its alone, and a client in this one that counts
// what comes.
#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "tests/streamer/media/media_pair.h"

namespace svc::streamer {

struct BenchOptions {
    VideoCodec codec = VideoCodec::h264;
    int width = 1280, height = 720, fps = 30, seconds = 10;
};

double processor_seconds(pid_t pid);                // that it has spent
void write_all_to(int fd, std::string_view bytes);  // throws unavailable
PeerSetup peer_setup(const BenchOptions& options);  // without sound

// What the same encoder takes without us: gst-launch of `source`, our encoder's settings, and nothing behind
// it.
class BarePipeline {
  public:
    BarePipeline(const std::string& source, const BenchOptions& options, std::uint32_t kbps,
                 int standard_input);
    ~BarePipeline();
    BarePipeline(const BarePipeline&) = delete;
    BarePipeline& operator=(const BarePipeline&) = delete;
    double processor() const { return processor_seconds(child_); }

  private:
    pid_t child_ = 0;
};

// One thread.
class MeasuredPeer {
  public:
    // Waits for the first frame. What GStreamer of this process began before is not the peer's.
    explicit MeasuredPeer(const PeerSetup& setup);
    ~MeasuredPeer();
    MeasuredPeer(const MeasuredPeer&) = delete;
    MeasuredPeer& operator=(const MeasuredPeer&) = delete;

    pid_t pid() const { return child_; }
    double processor() const { return processor_seconds(child_); }
    std::uint64_t frames() const { return client_->frames(); }  // that came
    Json figures();                                             // frames, encode_ms, kbps, bytes: of the peer

  private:
    void say(const Json& json);
    void hear(const Json& said);

    pid_t child_ = 0;
    FileDescriptor ours_;
    std::mutex say_mutex_, figures_mutex_;
    std::condition_variable came_;
    Json figures_;
    std::unique_ptr<HeadlessClient> client_;
    std::jthread reader_;
};

}  // namespace svc::streamer

#pragma once
// What all FrameSockets of one path share: the socket, the guest that draws, the newest frame.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "instance-agent/streamer/media/video/frame_reader.h"
#include "instance-agent/streamer/media/video/frame_socket.h"
#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe. The socket is there while this lives.
class FrameFeed {
  public:
    using Clock = std::chrono::steady_clock;
    struct Viewer {
        FrameSocket::Sink sink;
        std::shared_ptr<FramePace> pace;
        Clock::duration interval{};
        std::shared_ptr<const RawFrame> first;  // until the guest has drawn; null: nothing is handed out
        Clock::time_point handed_out{};
    };
    // The one that lives, unless somebody has replaced its socket; else a new one. Throws.
    static std::shared_ptr<FrameFeed> at(const std::string& path);

    explicit FrameFeed(const std::string& path);
    ~FrameFeed();
    FrameFeed(const FrameFeed&) = delete;
    FrameFeed& operator=(const FrameFeed&) = delete;

    void add(const std::shared_ptr<Viewer>& viewer);
    void remove(const std::shared_ptr<Viewer>& viewer);  // its sink is not called any more afterwards
    void wake();

  private:
    using Viewers = std::vector<std::shared_ptr<Viewer>>;
    void run(const std::stop_token& stop);
    void wait();
    int milliseconds_left() const;
    void hand_out();
    void accept_writer();
    void read_writer();
    bool owns_path() const;

    const std::string path_;
    FileDescriptor wake_, listener_, writer_;
    unsigned long inode_;
    FrameReader reader_;
    std::shared_ptr<const RawFrame> newest_;  // null: the guest has drawn nothing
    Guarded<Viewers> viewers_;                // sinks are called under its lock
    std::jthread thread_;                     // last: it uses the rest
};

}  // namespace svc::streamer

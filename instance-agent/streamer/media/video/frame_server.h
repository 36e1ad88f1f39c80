#pragma once
// What all FrameSockets of one path share: the socket, the guest that draws, the newest frame.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "instance-agent/streamer/guest_display/guest_display.h"
#include "instance-agent/streamer/guest_display/named_listener.h"
#include "instance-agent/streamer/media/video/frame_reader.h"
#include "instance-agent/streamer/media/video/frame_socket.h"
#include "instance-agent/streamer/threads/wake.h"
#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe. The socket is there while this lives.
class FrameServer {
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
    static std::shared_ptr<FrameServer> at(const std::string& path,
                                           const std::shared_ptr<GuestDisplay>& display = nullptr);

    // `display`: what a program draws there is shown as well; it counts as watched meanwhile. May be null.
    explicit FrameServer(const std::string& path, const std::shared_ptr<GuestDisplay>& display = nullptr);
    ~FrameServer();
    FrameServer(const FrameServer&) = delete;
    FrameServer& operator=(const FrameServer&) = delete;

    void add(const std::shared_ptr<Viewer>& viewer);
    void remove(const std::shared_ptr<Viewer>& viewer);  // its sink is not called any more afterwards
    // As if a writer had sent it. `old`: it was drawn before anybody watched, and a screenshot waits a second
    // for a newer one.
    void show(std::shared_ptr<const RawFrame> frame, bool old = false);
    void wake();

  private:
    using Viewers = std::vector<std::shared_ptr<Viewer>>;
    void run(const std::stop_token& stop);
    void wait();
    int milliseconds_left() const;
    void hand_out();
    void accept_writer();
    void read_writer();
    void take_shown();
    void take(std::shared_ptr<const RawFrame> frame, bool old = false);
    std::shared_ptr<const RawFrame> frame_for(const Viewer& viewer) const;

    struct Shown {
        std::shared_ptr<const RawFrame> frame;
        bool old = false;
    };

    Wake wake_;
    std::optional<NamedListener> listener_;
    FileDescriptor writer_;
    FrameReader reader_;
    std::shared_ptr<const RawFrame> newest_;  // null: the guest has drawn nothing
    Clock::time_point old_until_{};           // `newest_` is old, and until then one that is not may come
    Guarded<Shown> shown_;                    // not yet taken
    Guarded<Viewers> viewers_;                // sinks are called under its lock
    std::jthread thread_;                     // uses what stands before it
    std::optional<FrameWatch> guest_;
};

}  // namespace svc::streamer

#pragma once
// Sends frames to the guest that has the camera open, at the guest's rate and turned as its screen is. A
// frame shows the live stream, else the still picture, else black.
#include <optional>
#include <string_view>

#include "instance-agent/agent/devices/camera/live_stream.h"
#include "instance-agent/agent/devices/display/display_device.h"
#include "instance-agent/agent/devices/repeater.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/guest/guest_session.h"
#include "libsvc/base/metrics.h"

namespace svc::agent {

// An instance has one camera.
inline constexpr const char* camera_id = "0";
inline constexpr const char* camera_facing = "rear";

// Thread-safe. Never waits for a guest or a writer.
class CameraFeed {
  public:
    CameraFeed(Clock& clock, MetricsRegistry& metrics, std::shared_ptr<const Screen> screen,
               StreamLink& link);

    void show(PicturePtr picture);  // null: no still picture

    // For the thread that reads the video, of one writer at a time.
    void begin_stream();
    void end_stream();
    StreamRoom room();
    void took(StreamRoom room, std::size_t bytes);

    // Returns the answer to camera.open. Throws invalid_argument for a size that the camera does not have,
    // and `busy` "camera busy" when a guest has it open.
    GuestAnswer open(const GuestSessionPtr& session, Resolution size, unsigned rate);
    void close(const GuestSession& session, std::uint16_t handle);  // throws invalid_argument unless open
    void leave(const GuestSession& session);                        // the session has ended
    void expel(std::string_view reason);                            // closes the camera and tells the guest
    void give_back(const GuestSession& session, std::uint16_t handle, std::uint32_t slot);

  private:
    struct Opened {
        GuestSessionPtr session;
        std::uint16_t handle = 0;
        Resolution size;
        std::shared_ptr<SharedFrames> frames;
    };
    // One frame to send. It is planned and sent under the lock, and filled with pixels without it.
    struct Shot {
        Opened to;
        FrameContent content;
        FrameBufferPtr target;  // in memory that the guest sees
        FrameBufferPtr live;    // copied, if set; else
        PicturePtr picture;     // this, if set; else black
    };
    struct State {
        LiveStream live;
        PicturePtr picture, fitted;  // `fitted`: in the size that the guest has opened
        std::uint64_t picture_version = 0, last_version = 0;
        std::optional<Opened> opened;
        std::uint16_t last_handle = 0;
        bool is_open(const GuestSession& session, std::uint16_t handle) const;
    };

    Rotation rotation() const;
    void deliver();
    PicturePtr fit_to_guest();
    std::optional<Shot> plan();
    static bool plan_live(State& state, Shot& shot);
    static void fill(const Shot& shot);
    void tell(Shot shot);
    std::optional<Opened> shut(State& state);

    const std::shared_ptr<const Screen> screen_;
    Counter& frames_;
    StreamLink& link_;  // learns which camera a guest has open
    Guarded<State> state_;
    Repeater repeater_;  // last member: its calls use the others
};

}  // namespace svc::agent

#pragma once
// What the camera shows, and the guest that looks: frames of a live stream before a still picture before
// black, told at the guest's rate, turned as its screen is.
#include <optional>
#include <string_view>

#include "instance-agent/agent/devices/camera/live_stream.h"
#include "instance-agent/agent/devices/display/display_device.h"
#include "instance-agent/agent/devices/repeater.h"
#include "instance-agent/agent/devices/stream/stream_link.h"
#include "instance-agent/agent/guest/guest_server.h"

namespace svc::agent {

// There is one camera.
inline constexpr const char* camera_id = "0";
inline constexpr const char* camera_facing = "rear";

// Thread-safe. Never waits for a guest or a writer.
class CameraFeed {
  public:
    CameraFeed(Clock& clock, MetricsRegistry& metrics, std::shared_ptr<const Screen> screen,
               StreamLink& link);

    void show(PicturePtr picture);  // null: none

    // Of the thread that reads from the writer, one writer at a time.
    void begin_stream();
    void end_stream();
    StreamRoom room();
    void took(StreamRoom room, std::size_t bytes);

    // Answers as camera.open does. Throws invalid_argument for a size the camera does not have, `busy`
    // "camera busy" when a guest has it open.
    GuestAnswer open(const GuestSessionPtr& session, Resolution size, unsigned rate);
    void close(const GuestSession& session, std::uint16_t handle);  // throws invalid_argument unless open
    void leave(const GuestSession& session);                        // it has ended
    void expel(std::string_view reason);                            // closes, and tells the guest
    void give_back(const GuestSession& session, std::uint16_t handle, std::uint32_t slot);

  private:
    struct Opened {
        GuestSessionPtr session;
        std::uint16_t handle = 0;
        Resolution size;
        std::shared_ptr<SharedFrames> frames;
    };
    // One frame on its way: planned and told under the lock, filled outside.
    struct Shot {
        Opened to;
        FrameContent content;
        FrameBufferPtr target;  // of the guest's memory
        FrameBufferPtr live;    // to be copied from, or
        PicturePtr picture;     // this, or black
    };
    struct State {
        LiveStream live;
        PicturePtr picture, fitted;  // `fitted`: the picture in the opened size
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
    StreamLink& link_;  // told which camera a guest has open
    Guarded<State> state_;
    Repeater repeater_;  // last: its calls use the others
};

}  // namespace svc::agent

#pragma once
// The camera: the control API and a video socket take pictures and video, guests get frames (docs/camera.md).
#include <atomic>
#include <mutex>
#include <optional>

#include "instance-agent/agent/devices/camera/camera_feed.h"
#include "instance-agent/agent/devices/camera/video_socket.h"
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/devices/tracing/tracer.h"
#include "instance-agent/agent/files/state_file.h"
#include "libsvc/base/thread_pool.h"

namespace svc::agent {

class CameraDevice final : public Device {
  public:
    CameraDevice(const DeviceContext& context, Tracer& tracer, std::shared_ptr<const Screen> screen,
                 StreamLink& link);

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override {
        return {"camera_support", "camera_static_data", "camera_video_streaming"};
    }

  private:
    struct Image {
        std::uint64_t round = 0;  // counts each time that the camera is enabled; 0: disabled
        std::uint64_t last_round = 0;
        bool is_there = false;
    };

    Response info() const;
    Response toggle(const Request& request);
    void switch_on(std::optional<VideoSocket>& video);
    void switch_off(std::optional<VideoSocket>& video);
    Response take_image(Request& request);
    ThreadPool& decoder();
    Response decode(std::uint64_t round, std::string_view data);
    void show(std::uint64_t round, PicturePtr picture);
    Response drop_image();
    GuestAnswer open(const GuestSessionPtr& session, const Json& request);
    void restore();

    const std::filesystem::path sockets_;
    const StateFile state_file_;
    Tracer& tracer_;
    CameraFeed feed_;
    StreamerSwitch streamer_switch_;
    Guarded<Image> image_;
    Guarded<std::optional<VideoSocket>> video_;  // locked while the camera is switched
    std::once_flag decoder_made_;
    std::optional<ThreadPool> decoder_;  // last member: its jobs use the others
};

}  // namespace svc::agent

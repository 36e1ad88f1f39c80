#pragma once
// Sends the client's camera to the guest while a program there has the camera open. Does nothing with a
// camera that an operator has switched on.
#include <map>
#include <memory>
#include <optional>

#include "instance-agent/streamer/guest/camera_feed.h"
#include "instance-agent/streamer/guest/control_api.h"
#include "instance-agent/streamer/peer/peer.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

struct CameraWish {
    int width = 0, height = 0, fps = 0;
    std::string facing;                                     // "front", "rear"
    static CameraWish from_json(const JsonFields& fields);  // throws invalid_argument
    bool operator==(const CameraWish&) const = default;
};

// Used on the queue's thread alone.
class CameraRelay {
  public:
    using TellClient = std::function<void(const std::string& type, const Json& data)>;
    using FindPeer = std::function<Peer*()>;  // null: no client

    CameraRelay(const std::filesystem::path& api_socket, EventQueue& queue, FindPeer peer,
                TellClient tell_client);

    void opened(std::int64_t handle, CameraWish wish);  // a program of the guest has opened the camera
    void closed(std::int64_t handle);
    void all_closed();
    void client_ready(bool has_camera);  // the client's control channel is open
    void client_gone();

  private:
    void update();
    void begin(const CameraWish& wish);
    void end();
    void feed(const CameraWish& wish, const std::filesystem::path& socket);
    static std::optional<std::string> switch_on(const ControlApi& api);

    EventQueue& queue_;
    FindPeer peer_;
    TellClient tell_client_;
    std::map<std::int64_t, CameraWish> wishes_;  // by handle
    bool ready_ = false;
    std::optional<CameraWish> served_;
    unsigned turn_ = 0;  // counts the values of `served_`: a late socket belongs to an earlier one
    std::shared_ptr<CameraFeed> feed_;
    std::shared_ptr<bool> ours_ =
        std::make_shared<bool>(false);  // this relay has switched the camera on; used by the worker
    ControlApiWorker worker_;
};

}  // namespace svc::streamer

#include "instance-agent/streamer/guest/camera_relay.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr const char* path = "/1.0/camera";
constexpr std::int64_t most_pixels = 8192, most_fps = 240;

int number(const JsonFields& fields, std::string_view key, std::int64_t most) {
    const std::int64_t value = fields.require_int(key);
    if (value < 1 || value > most) throw_invalid(key, "out of range");
    return static_cast<int>(value);
}

}  // namespace

CameraWish CameraWish::from_json(const JsonFields& fields) {
    return {number(fields, "width", most_pixels), number(fields, "height", most_pixels),
            number(fields, "fps", most_fps), fields.string("facing").value_or("front")};
}

CameraRelay::CameraRelay(const std::filesystem::path& api_socket, EventQueue& queue, FindPeer peer,
                         TellClient tell_client)
    : queue_(queue),
      peer_(std::move(peer)),
      tell_client_(std::move(tell_client)),
      worker_(api_socket, "camera") {}

void CameraRelay::opened(std::int64_t handle, CameraWish wish) {
    wishes_[handle] = std::move(wish);
    update();
}

void CameraRelay::closed(std::int64_t handle) {
    wishes_.erase(handle);
    update();
}

void CameraRelay::all_closed() {
    wishes_.clear();
    update();
}

void CameraRelay::client_ready(bool has_camera) {
    ready_ = has_camera;
    update();
}

void CameraRelay::client_gone() {
    ready_ = false;
    update();
}

// The client has one camera: the guest's camera that was opened last gets it.
void CameraRelay::update() {
    std::optional<CameraWish> wanted;
    if (ready_ && !wishes_.empty()) wanted = wishes_.rbegin()->second;
    if (wanted == served_) return;
    if (served_) end();
    if (wanted) begin(*wanted);
    served_ = wanted;
}

void CameraRelay::begin(const CameraWish& wish) {
    const unsigned turn = ++turn_;
    tell_client_("open-camera",
                 Json::object({{"resolution", Json::object({{"width", wish.width}, {"height", wish.height}})},
                               {"facing-mode", wish.facing},
                               {"frame-rate", wish.fps}}));
    worker_.submit([this, turn, wish, ours = ours_](const ControlApi& api) {
        const auto socket = *ours ? std::nullopt : switch_on(api);
        if (!socket) return log::info("the camera is in use by an operator");
        *ours = true;
        queue_.post([this, turn, wish, socket] {
            if (turn == turn_ && served_) feed(wish, *socket);
        });
    });
}

// Switches the camera on and returns its socket; nothing when it was on already.
std::optional<std::string> CameraRelay::switch_on(const ControlApi& api) {
    if (api.call(Method::get, path).at("enabled").as_bool()) return std::nullopt;
    return api.call(Method::post, path, Json::object({{"enable", true}, {"stream", true}}))
        .at("video_stream_socket")
        .as_string();
}

void CameraRelay::feed(const CameraWish& wish, const std::filesystem::path& socket) {
    Peer* const peer = peer_();
    if (peer == nullptr) return;
    feed_ = std::make_shared<CameraFeed>(socket);
    peer->set_camera_sink(
        wish.width, wish.height, wish.fps,
        [feed = feed_](const std::uint8_t* pixels, std::size_t size) { feed->take(pixels, size); });
}

void CameraRelay::end() {
    ++turn_;
    if (Peer* const peer = peer_()) peer->set_camera_sink(0, 0, 0, {});
    feed_.reset();
    tell_client_("close-camera", Json::object());
    worker_.submit([ours = ours_](const ControlApi& api) {
        if (std::exchange(*ours, false)) api.call(Method::post, path, Json::object({{"enable", false}}));
    });
}

}  // namespace svc::streamer

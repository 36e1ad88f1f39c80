#include "instance-agent/agent/devices/camera/camera_device.h"

#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/camera/jpeg.h"
#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/files/socket_folder.h"
#include "instance-agent/agent/processes/guest_start.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::uint64_t most_image_bytes = 32U << 20;
constexpr std::size_t waiting_images = 4;
constexpr int most_rate = 60;
constexpr std::int64_t default_rate = 30;

Json list_resolutions() {
    Json list = Json::array();
    for (const Resolution& size : camera_resolutions)
        list.push_back(Json::object({{"width", size.width}, {"height", size.height}}));
    return list;
}

GuestAnswer list_cameras() {
    Json camera = Json::object({{"id", camera_id},
                                {"facing", camera_facing},
                                {"resolutions", list_resolutions()},
                                {"fps", most_rate},
                                {"formats", Json::array({"rgba"})}});
    return {Json::object({{"cameras", Json::array({std::move(camera)})}})};
}

[[noreturn]] void refuse_camera(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

std::int64_t require_integer(const Json& request, std::string_view name, Range range) {
    const auto value = read_integer(request, name, range);
    if (!value) throw_missing_field(name);
    return *value;
}

Resolution read_resolution(const Json& request) {
    const Range range{1, 65535};
    const Resolution size{static_cast<std::uint32_t>(require_integer(request, "width", range)),
                          static_cast<std::uint32_t>(require_integer(request, "height", range))};
    if (!is_camera_resolution(size))
        refuse_camera("size " + std::to_string(size.width) + "x" + std::to_string(size.height) +
                      " is not supported");
    return size;
}

std::uint16_t read_handle(const Json& request) {
    return static_cast<std::uint16_t>(require_integer(request, "handle", {0, 65535}));
}

// The payload of a release message: the number of the slot.
std::optional<std::uint32_t> read_slot(std::string_view payload) {
    if (payload.size() != 4) return std::nullopt;
    std::uint32_t slot = 0;
    for (int i = 3; i >= 0; --i) slot = slot << 8 | static_cast<unsigned char>(payload[i]);
    return slot;
}

}  // namespace

CameraDevice::CameraDevice(const DeviceContext& context, Tracer& tracer, std::shared_ptr<const Screen> screen,
                           StreamLink& link)
    : sockets_(context.sockets),
      state_file_(context.state() / "camera.json", guest_start_key(context.paths)),
      tracer_(tracer),
      feed_(context.clock, context.metrics, std::move(screen), link) {
    VideoSocket::sweep(sockets_);
    link.when_gone([this] {
        if (!streamer_switch_.take_back()) return;
        video_.with([&](auto& video) {
            if (video) switch_off(video);
        });
    });
    if (state_file_.load() == Json::object({{"enabled", true}})) restore();
}

// Failures are logged: an agent without a camera still serves everything else.
void CameraDevice::restore() try {
    prepare_socket_folder(sockets_);
    video_.with([&](auto& video) { switch_on(video); });
} catch (const Error& e) {
    log::warning("the camera stays disabled", {{"error", e.what()}});
}

std::vector<Route> CameraDevice::routes() {
    const std::string camera = "/1.0/camera", data = "/1.0/camera/data";
    return {{Method::get, camera, Access::everyone, Dispatch::on_io_thread, "camera",
             [this](Request&) { return info(); }},
            {Method::post, camera, Access::everyone, Dispatch::on_pool, "camera",
             [this](Request& request) { return toggle(request); }},
            {Method::post, data, Access::everyone, Dispatch::on_pool, "camera_data",
             [this](Request& request) { return take_image(request); }, most_image_bytes},
            {Method::delete_, data, Access::everyone, Dispatch::on_pool, "camera_data",
             [this](Request&) { return drop_image(); }}};
}

Response CameraDevice::info() const {
    const Image image = image_.with([](const Image& now) { return now; });
    return success(Json::object({{"data_available", image.is_there},
                                 {"enabled", image.round != 0},
                                 {"resolutions", list_resolutions()}}));
}

Response CameraDevice::toggle(const Request& request) {
    const Json body = body_of(request);
    const bool on = read_enable(body);
    return video_.with([&](std::optional<VideoSocket>& video) {
        const bool changes = on != video.has_value();
        if (changes) on ? switch_on(video) : switch_off(video);
        streamer_switch_.switched(body, on, changes);
        if (!on) return success();
        return success(Json::object({{"video_stream_socket", video->path().native()}}));
    });
}

void CameraDevice::switch_on(std::optional<VideoSocket>& video) {
    video.emplace(sockets_, feed_);
    try {
        state_file_.save(Json::object({{"enabled", true}}));
    } catch (const Error&) {
        video.reset();
        throw;
    }
    image_.with([](Image& image) { image.round = ++image.last_round; });
}

void CameraDevice::switch_off(std::optional<VideoSocket>& video) {
    state_file_.save(Json::object({{"enabled", false}}));
    video.reset();
    image_.with([&](Image& image) {
        image.round = 0;
        image.is_there = false;
        feed_.show(nullptr);
    });
    feed_.expel("camera support was disabled");
}

// Pictures are decoded one at a time on a thread of their own; the request waits without a thread.
Response CameraDevice::take_image(Request& request) {
    const std::uint64_t round = image_.with([](const Image& image) { return image.round; });
    if (round == 0) refuse_camera("Camera support is not enabled");
    if (request.body.empty()) refuse_camera("Image data is empty");
    Response response;
    response.later = [this, round, body = std::make_shared<std::string>(std::move(request.body))](
                         const Responder& respond) {
        if (!decoder().post([this, round, body, respond] { respond(decode(round, *body)); }))
            respond(failure(Error(ErrorCode::exhausted, "too many images at once")));
    };
    return response;
}

// Its thread starts with the first image: most instances show none.
ThreadPool& CameraDevice::decoder() {
    std::call_once(decoder_made_, [this] { decoder_.emplace("camera-image", 1, waiting_images); });
    return *decoder_;
}

Response CameraDevice::decode(std::uint64_t round, std::string_view data) try {
    const TraceSlice slice(tracer_, "camera", "decode");
    show(round, std::make_shared<const Picture>(decode_jpeg(data)));
    return created();
} catch (const std::exception& e) {
    return failure(e);
}

// Drops a picture when the camera was disabled while the picture was decoded.
void CameraDevice::show(std::uint64_t round, PicturePtr picture) {
    image_.with([&](Image& image) {
        if (image.round != round) refuse_camera("Camera support is not enabled");
        image.is_there = true;
        feed_.show(std::move(picture));
    });
}

Response CameraDevice::drop_image() {
    image_.with([&](Image& image) {
        image.is_there = false;
        feed_.show(nullptr);
    });
    return success();
}

GuestFeature CameraDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "camera";
    feature.ops["camera.list"] = [](const auto&, const JsonFields&) { return list_cameras(); };
    feature.ops["camera.open"] = [this](const auto& session, const JsonFields& request) {
        return open(session, request.value());
    };
    feature.ops["camera.close"] = [this](const auto& session, const JsonFields& request) {
        feed_.close(*session, read_handle(request.value()));
        return GuestAnswer{};
    };
    feature.closed = [this](const GuestSessionPtr& session) { feed_.leave(*session); };
    feature.binary = [this](const GuestSessionPtr& session, std::uint16_t handle, std::string_view payload) {
        if (const auto slot = read_slot(payload)) feed_.give_back(*session, handle, *slot);
    };
    return feature;
}

GuestAnswer CameraDevice::open(const GuestSessionPtr& session, const Json& request) {
    const std::string camera = require_text(request, "camera");
    if (camera != camera_id) refuse_camera("unknown camera " + quoted(camera));
    const Resolution size = read_resolution(request);
    const std::int64_t rate = read_integer(request, "fps", {1, most_rate}).value_or(default_rate);
    return feed_.open(session, size, static_cast<unsigned>(rate));
}

}  // namespace svc::agent

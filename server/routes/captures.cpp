#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/management/management_service.h"
#include "server/http/export.h"
#include "server/http/query.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

class CaptureSource final : public BodySource {
  public:
    explicit CaptureSource(std::unique_ptr<CaptureStream> capture) : capture_(std::move(capture)) {}
    // The client sees no more than that its answer breaks off.
    std::string read(std::size_t at_most) override try {
        return capture_->read(at_most);
    } catch (const Error& e) {
        log::warning("a capture has broken off", {{"reason", e.what()}});
        throw;
    }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }

  private:
    std::unique_ptr<CaptureStream> capture_;
};

// The bytes are a guest's: no browser may take them for anything else.
Response send_capture(std::unique_ptr<CaptureStream> capture, const char* type, const char* file_name) {
    Response response;
    response.headers.set("Content-Type", type);
    response.headers.set("X-Content-Type-Options", "nosniff");
    response.headers.set("Cache-Control", "no-store");
    response.headers.set("Content-Disposition", attachment(file_name));
    response.source = std::make_unique<CaptureSource>(std::move(capture));
    return response;
}

std::chrono::seconds wanted_length(const Request& request) {
    const auto text = request.query.find("duration");
    if (text == request.query.end()) return longest_recording;
    const auto seconds = count_of_query(text->second, "duration");
    if (seconds < 1 || seconds > static_cast<std::size_t>(longest_recording.count()))
        throw_invalid("duration",
                      "must be from 1 to " + std::to_string(longest_recording.count()) + " seconds");
    return std::chrono::seconds(seconds);
}

Response take_screenshot(const Services& services, const Request& request) {
    auto capture = services.management.captures().begin(request.params.at("id"), {});
    return send_capture(std::move(capture), "image/png", "screenshot.png");
}

Response record(const Services& services, const Request& request) {
    const CaptureRequest wish{CaptureRequest::Kind::recording, wanted_length(request)};
    auto capture = services.management.captures().begin(request.params.at("id"), wish);
    return send_capture(std::move(capture), "video/mp4", "recording.mp4");
}

}  // namespace

std::vector<Route> capture_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&](RouteFunction function) { return handler(services, function); };
    const std::string one = "/1.0/instances/{id}";
    return {
        {Method::get, one + "/screenshot", operator_, on_slow_pool, "instance_screenshot",
         call(take_screenshot)},
        {Method::get, one + "/recording", operator_, on_slow_pool, "instance_recording", call(record)},
    };
}

}  // namespace svc::server

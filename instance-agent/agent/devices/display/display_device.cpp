#include "instance-agent/agent/devices/display/display_device.h"

#include <array>
#include <utility>

#include "instance-agent/agent/devices/request_fields.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr std::array<std::pair<std::string_view, Orientation>, 4> names{{
    {"landscape", Orientation::landscape},
    {"portrait", Orientation::portrait},
    {"reverse-landscape", Orientation::reverse_landscape},
    {"reverse-portrait", Orientation::reverse_portrait},
}};

Orientation read_orientation(const Json& request) {
    const std::string wanted = require_text(request, "orientation");
    for (const auto& [name, orientation] : names)
        if (name == wanted) return orientation;
    throw_invalid_field("orientation");
}

}  // namespace

GuestFeature DisplayDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "display";
    feature.ops["display.set_orientation"] = [screen = screen_](const auto& session,
                                                                const JsonFields& request) {
        const Orientation orientation = read_orientation(request.value());
        if (!session->may_control()) throw Error(ErrorCode::forbidden, "permission denied");
        screen->turn(orientation);
        return GuestAnswer{};
    };
    return feature;
}

}  // namespace svc::agent

#include "instance-agent/shared/display_settings.h"

#include <charconv>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::string_view streamed = "webrtc";

// A member of DisplaySettings, its name in JSON, and what it may be.
struct Setting {
    std::uint32_t DisplaySettings::*member;
    std::string_view name;
    std::uint32_t least, most;
};
constexpr Setting settings[] = {{&DisplaySettings::width, "display_width", 1, 16384},
                                {&DisplaySettings::height, "display_height", 1, 16384},
                                {&DisplaySettings::fps, "fps", 1, 1000},
                                {&DisplaySettings::density, "display_density", 72, 2000}};

void set(DisplaySettings& display, const Setting& setting, double value) {
    if (value >= setting.least && value <= setting.most)
        display.*setting.member = static_cast<std::uint32_t>(value);
}

std::optional<Json> object_in(std::string_view text) try {
    Json document = Json::parse(text);
    return document.is_object() ? std::optional(std::move(document)) : std::nullopt;
} catch (const Error&) {
    return std::nullopt;
}

void read_object(const Json& object, DisplaySettings& display) {
    for (const Setting& setting : settings)
        if (const Json* const value = object.find(setting.name); value != nullptr && value->is_number())
            set(display, setting, value->as_double());
}

// Numbers in the order of `settings`.
void read_list(std::string_view text, DisplaySettings& display) {
    const auto parts = split(trim(text), ',');
    if (parts.size() < 2 || parts.size() > std::size(settings)) return;
    DisplaySettings found = display;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string_view part = trim(parts[i]);
        std::uint32_t value = 0;
        const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (failure != std::errc() || end != part.data() + part.size()) return;
        set(found, settings[i], value);
    }
    display = found;
}

}  // namespace

bool streams(std::string_view platform) {
    return platform == streamed || platform == "swrast";
}

DisplaySettings read_display_settings(std::string_view platform, std::string_view user_data) {
    DisplaySettings display;
    if (platform != streamed) display.density = 160;
    if (const auto object = object_in(user_data))
        read_object(*object, display);
    else if (platform != streamed)
        read_list(user_data, display);
    display.width += display.width % 2;
    display.height += display.height % 2;
    return display;
}

}  // namespace svc::agent

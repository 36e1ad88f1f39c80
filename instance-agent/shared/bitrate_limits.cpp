#include "instance-agent/shared/bitrate_limits.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc::agent {
namespace {

const std::vector<BitrateLimit>& built_in_limits() {
    static const std::vector<BitrateLimit> limits{{921600, 30, {1000, 3000}},
                                                  {921600, 60, {2500, 5000}},
                                                  {2073600, 30, {3000, 6000}},
                                                  {2073600, 60, {3000, 7000}}};
    return limits;
}

// Throws Error when the member is absent or out of range.
std::uint32_t require_count(const JsonFields& fields, std::string_view key) {
    const std::int64_t value = fields.require_int(key);
    if (value < 0 || value > UINT32_MAX) throw_invalid(key, "must fit 32 bits");
    return static_cast<std::uint32_t>(value);
}

BitrateLimit read_limit(const JsonFields& fields) {
    BitrateLimit limit{require_count(fields, "num_pixels"),
                       require_count(fields, "fps"),
                       {require_count(fields, "min_kbps"), require_count(fields, "max_kbps")}};
    if (limit.range.least > limit.range.most) throw_invalid("min_kbps", "must not be above max_kbps");
    return limit;
}

std::uint64_t distance(const BitrateLimit& limit, std::uint32_t fps) {
    return limit.fps > fps ? limit.fps - fps : fps - limit.fps;
}

}  // namespace

std::vector<BitrateLimit> read_bitrate_limits(std::string_view streamer_file) try {
    const Json file = Json::parse(streamer_file);
    const auto video = JsonFields(file).object("video");
    const auto entries = video ? video->objects("bitrate_limits") : std::nullopt;
    std::vector<BitrateLimit> limits;
    for (const JsonFields& entry : entries.value_or(std::vector<JsonFields>()))
        limits.push_back(read_limit(entry));
    return limits.empty() ? built_in_limits() : limits;
} catch (const Error&) {
    return built_in_limits();
}

BitrateRange choose_bitrates(std::vector<BitrateLimit> limits, const DisplaySettings& display) {
    if (limits.empty()) return {};
    const std::uint64_t pixels = std::uint64_t{display.width} * display.height;
    std::uint64_t size = 0;
    for (const BitrateLimit& limit : limits) size = std::max(size, limit.pixels);
    for (const BitrateLimit& limit : limits)
        if (limit.pixels >= pixels) size = std::min(size, limit.pixels);
    std::stable_sort(limits.begin(), limits.end(),
                     [](const auto& a, const auto& b) { return a.fps > b.fps; });
    const BitrateLimit* best = nullptr;
    for (const BitrateLimit& limit : limits)
        if (limit.pixels == size && (!best || distance(limit, display.fps) < distance(*best, display.fps)))
            best = &limit;
    return best->range;
}

}  // namespace svc::agent

#include "instance-agent/streamer/client/screen_wish.h"

#include "libsvc/base/error.h"

namespace svc::streamer {

namespace {

int size_of(const JsonFields& fields, std::string_view key, int least) {
    const std::int64_t value = fields.integer(key).value_or(0);
    if (value != 0 && (value < least || value > 16384)) throw_invalid(fields.path_of(key), "out of range");
    return static_cast<int>(value);
}

}  // namespace

ScreenWish ScreenWish::from_json(const JsonFields& fields) {
    return {size_of(fields, "width", 1), size_of(fields, "height", 1), size_of(fields, "density", 72)};
}

}  // namespace svc::streamer

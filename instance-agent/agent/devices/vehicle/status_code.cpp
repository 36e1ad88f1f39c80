#include "instance-agent/agent/devices/vehicle/status_code.h"

#include <array>
#include <string>

#include "libsvc/base/error.h"

namespace svc::agent {

std::string_view status_code_name(std::int64_t code) {
    static constexpr std::array<std::string_view, 11> names = {"OK",
                                                               "TRY_AGAIN",
                                                               "INVALID_ARG",
                                                               "NOT_AVAILABLE",
                                                               "ACCESS_DENIED",
                                                               "INTERNAL_ERROR",
                                                               "NOT_AVAILABLE_DISABLED",
                                                               "NOT_AVAILABLE_SPEED_LOW",
                                                               "NOT_AVAILABLE_SPEED_HIGH",
                                                               "NOT_AVAILABLE_POOR_VISIBILITY",
                                                               "NOT_AVAILABLE_SAFETY"};
    const bool known = code >= 0 && static_cast<std::size_t>(code) < names.size();
    return known ? names[static_cast<std::size_t>(code)] : "INTERNAL_ERROR";
}

void throw_status(std::int64_t code) {
    const bool is_request_bad = code == static_cast<std::int64_t>(StatusCode::invalid_arg);
    throw Error(is_request_bad ? ErrorCode::invalid_argument : ErrorCode::unavailable,
                "VHAL request failed: " + std::string(status_code_name(code)));
}

void throw_status(StatusCode code) {
    throw_status(static_cast<std::int64_t>(code));
}

}  // namespace svc::agent

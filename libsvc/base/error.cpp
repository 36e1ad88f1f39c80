#include "libsvc/base/error.h"

#include <cerrno>
#include <system_error>

namespace svc {

Error system_error(std::string_view what, int error_number) {
    const bool no_room =
        error_number == ENOSPC || error_number == EDQUOT || error_number == EMFILE || error_number == ENFILE;
    std::string reason = std::generic_category().message(error_number);  // thread-safe, unlike strerror
    if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
        reason[0] = static_cast<char>(reason[0] + 32);
    return Error(no_room ? ErrorCode::exhausted : ErrorCode::internal, std::string(what) + ": " + reason);
}

}  // namespace svc

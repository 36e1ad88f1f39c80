#include "libsvc/base/presence.h"

#include <sys/stat.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc {

std::optional<std::string> read_if_there(const std::filesystem::path& path, std::size_t max_bytes) {
    try {
        return read_file(path, max_bytes);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return std::nullopt;
    }
}

std::string read_or_empty(const std::filesystem::path& path, std::size_t max_bytes) try {
    return read_file(path, max_bytes);
} catch (const Error&) {
    return "";
}

bool is_there(const std::filesystem::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0) return true;
    if (errno != ENOENT && errno != ENOTDIR)
        throw system_error("cannot look at " + quoted(path.filename().native()), errno);
    return false;
}

}  // namespace svc

#include "libsvc/formats/entry_path.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

std::string clean_entry_path(const std::string& path, const std::string& entry) {
    const auto refuse = [&](const char* reason) {
        throw Error(ErrorCode::invalid_argument, "entry " + quoted(entry) + reason);
    };
    if (path.starts_with('/')) refuse(" has an absolute name");
    std::string result;
    for (const std::string& part : split(path, '/')) {
        if (part == "..") refuse(" has '..' in its name");
        if (part.empty() || part == ".") continue;
        if (!result.empty()) result += '/';
        result += part;
    }
    return result;
}

}  // namespace svc

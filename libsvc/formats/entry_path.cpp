#include "libsvc/formats/entry_path.h"

#include <algorithm>

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

bool leads_inside(const std::string& path, const std::string& target) {
    if (target.empty() || target.starts_with('/')) return false;
    auto depth = std::count(path.begin(), path.end(), '/');
    bool below = false;
    for (const std::string& part : split(target, '/')) {
        if (part.empty() || part == ".") continue;
        if (part != "..")
            below = true;
        else if (below || --depth < 0)
            return false;
    }
    return true;
}

}  // namespace svc

#include "libsvc/cluster/unused_parts.h"

namespace svc {

std::vector<std::string> UnusedParts::due(const std::set<std::string>& unused, Time now) {
    std::erase_if(since_, [&](const auto& each) { return !unused.contains(each.first); });
    std::vector<std::string> due;
    for (const std::string& owner : unused)
        if (now - since_.try_emplace(owner, now).first->second >= patience_) due.push_back(owner);
    return due;
}

}  // namespace svc

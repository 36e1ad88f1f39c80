#pragma once
// Which container is on which node.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe.
class Places {
  public:
    using Map = std::map<std::string, std::string, std::less<>>;  // id to node
    explicit Places(Map known) : places_(std::move(known)) {}

    std::optional<std::string> find(std::string_view id) const {
        return places_.with([&](const auto& all) -> std::optional<std::string> {
            const auto found = all.find(id);
            if (found == all.end()) return std::nullopt;
            return found->second;
        });
    }
    void set(const std::string& id, const std::string& node) {
        places_.with([&](auto& all) { all[id] = node; });
    }
    void forget(std::string_view id) {
        places_.with([&](auto& all) {
            if (const auto found = all.find(id); found != all.end()) all.erase(found);
        });
    }
    std::vector<std::string> of(std::string_view node) const {
        std::vector<std::string> ids;
        places_.with([&](const auto& all) {
            for (const auto& [id, where] : all)
                if (where == node) ids.push_back(id);
        });
        return ids;
    }

  private:
    Guarded<Map> places_;
};

}  // namespace svc

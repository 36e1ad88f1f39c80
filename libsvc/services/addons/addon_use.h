#pragma once
// What uses an addon: such an addon is not deleted.
#include <optional>
#include <string>
#include <vector>

#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe; reads memory only.
class AddonUse {
  public:
    AddonUse(const Applications& applications, const Instances& instances, const ConfigRecords& config)
        : applications_(applications), instances_(instances), config_(config) {}

    // An application was made with it or asks for it, application.addons has it, or an instance is about to
    // fetch it. `version` set: asks about that version only.
    bool is_in_use(const std::string& addon, std::optional<int> version) const;
    std::vector<std::string> used_by(const std::string& addon) const;  // names of applications

  private:
    const Applications& applications_;
    const Instances& instances_;
    const ConfigRecords& config_;  // application.addons
};

}  // namespace svc

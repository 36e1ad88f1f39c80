#pragma once
// Reading applications: records, entity tags, manifests.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/services/common/records.h"
#include "libsvc/services/images/image_service.h"

namespace svc {

// Thread-safe; reads memory only.
class ApplicationRecords {
  public:
    using Ptr = std::shared_ptr<const Application>;

    ApplicationRecords(const Applications& applications, const ImageService& images)
        : applications_(applications), images_(images) {}

    Ptr get(std::string_view id_or_name) const;  // throws not_found
    std::vector<Ptr> list() const { return applications_.list(); }
    const Applications& collection() const { return applications_; }
    // Throws what refuses every change: not_found; busy while it is deleted; forbidden when it is immutable.
    // To be asked before the body of a request is read.
    Ptr check_update(std::string_view id_or_name) const;
    std::string etag(const Application& application) const;
    // YAML text of that version's manifest, of the newest version's without a number. Throws not_found.
    std::string manifest(std::string_view id_or_name, std::optional<int> version) const;

  private:
    const Applications& applications_;
    const ImageService& images_;
};

}  // namespace svc

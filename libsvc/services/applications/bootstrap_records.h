#pragma once
// The transitions of a version that is being bootstrapped, as its record takes them: initializing, then
// active or error (docs/applications.md, Version: states).
#include <cstdint>
#include <string>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_operation.h"
#include "libsvc/services/common/records.h"

namespace svc {

// The result of a bootstrap.
struct BootstrappedLayer {
    std::string name;
    std::uint64_t bytes = 0;
    std::vector<std::string> notes;  // of the guest's report
    bool publish = false;
};

// Thread-safe. Methods throw `cancelled` when the version is no longer to be made.
class BootstrapRecords {
  public:
    BootstrapRecords(Applications& applications, IdSource& ids) : applications_(applications), ids_(ids) {}

    bool is_there(const ApplicationTarget& target) const;  // neither gone nor being deleted
    // The id of the base container: the one in the record, else a new one, which is stored first.
    std::string choose_base(const ApplicationTarget& target);
    void activate(const ApplicationTarget& target, const BootstrappedLayer& layer);
    // initializing -> error. Returns the id of the base container that is left, "" for none; also "" for a
    // version that is active or gone. Does not throw `cancelled`.
    std::string fail(const ApplicationTarget& target, const std::string& reason);
    void forget_base(
        const ApplicationTarget& target);  // the base container is gone. Does not throw `cancelled`

  private:
    Applications& applications_;
    IdSource& ids_;
};

Error bootstrap_cancelled();
log::Fields version_fields(const ApplicationTarget& target);

}  // namespace svc

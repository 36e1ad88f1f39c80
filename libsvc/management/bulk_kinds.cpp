#include "libsvc/management/bulk_kinds.h"

#include <string>
#include <utility>

namespace svc {

namespace {

BulkKind kind_of(InstanceService& instances, PathWord word) {
    const std::string noun(to_text(word));
    return {noun, "Deleting " + noun,
            [&instances, noun](std::string_view id) {
                return "/1.0/" + noun + "/" + instances.records().get(id)->id.str();
            },
            [&instances, word](std::string_view id, bool force, std::string requestor) {
                return instances.remove(id, force, word, std::move(requestor));
            }};
}

BulkKind kind_of(ApplicationService& applications) {
    return {"applications", "Deleting applications",
            [&applications](std::string_view id) {
                return "/1.0/applications/" + applications.get(id)->id.str();
            },
            [&applications](std::string_view id, bool force, std::string requestor) {
                return applications.removal().remove(id, force, std::move(requestor));
            }};
}

}  // namespace

std::vector<BulkKind> bulk_kinds(ApplicationService& applications, InstanceService& instances) {
    return {kind_of(applications), kind_of(instances, PathWord::containers),
            kind_of(instances, PathWord::instances)};
}

}  // namespace svc

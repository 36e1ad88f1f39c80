#include "server/holds_data.h"

#include "libsvc/services/common/records.h"

namespace svc::server {

namespace {

// A container is made between `created` and `started`, and removed once its instance is `deleted`.
bool was_made(InstanceStatus status) {
    return status != InstanceStatus::created && status != InstanceStatus::prepared &&
           status != InstanceStatus::deleted;
}

}  // namespace

bool holds_data(Store& store, const std::string& instance) {
    const auto entry = store.get(std::string(RecordTraits<Instance>::prefix) + instance);
    if (!entry) return false;
    try {
        return was_made(instance_from_store(Json::parse(entry->value)).status);
    } catch (const Error&) {
        return true;
    }
}

}  // namespace svc::server

#include "server/known_schema.h"

#include "libsvc/model/values/schema.h"

namespace svc::server {

__attribute__((weak)) int known_schema() noexcept {
    return records_schema;
}

}  // namespace svc::server

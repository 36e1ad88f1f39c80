#include "libsvc/base/failpoint.h"

namespace svc {

__attribute__((weak)) void failpoint(const char*) noexcept {}

}  // namespace svc

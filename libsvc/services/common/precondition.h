#pragma once
// The condition that a change sets for the record: HTTP's If-Match.
#include <functional>
#include <string_view>

namespace svc {

// Called with the entity tag of the record as it is in the step that changes it; throws to refuse the change.
// May be called more than once. Empty: no condition.
using Precondition = std::function<void(std::string_view etag)>;

}  // namespace svc

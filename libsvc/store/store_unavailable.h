#pragma once
// A store that is elsewhere, and cannot be asked at present.
#include <string>

#include "libsvc/base/error.h"

namespace svc {

// The store does not answer, or does not let this process change anything now. Neither the request nor this
// service is at fault; the message says whether a change may have been stored all the same.
class StoreUnavailable : public Error {
  public:
    explicit StoreUnavailable(const std::string& message) : Error(ErrorCode::unavailable, message) {}
};

}  // namespace svc

#pragma once
// A service that is there and does nothing.
#include "libsvc/base/error.h"

namespace svc {

// It answered 503: it stops or starts, or is one of several managers and has no leader to ask. Perhaps it has
// done what it was asked for, if it says so.
class NotServing : public Error {
  public:
    explicit NotServing(const std::string& why) : Error(ErrorCode::internal, why) {}
};

}  // namespace svc

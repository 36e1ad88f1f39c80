#pragma once
// Why a call did not come about.
#include "libsvc/base/error.h"

namespace svc {

// There was no connection to the server: it has got nothing, so that another one may be asked.
class NotReached : public Error {
  public:
    explicit NotReached(const std::string& why) : Error(ErrorCode::unavailable, why) {}
};

}  // namespace svc

#pragma once
// The screen that a client asks for, when it joins or while it watches.
#include "libsvc/base/json.h"

namespace svc::streamer {

struct ScreenWish {
    int width = 0, height = 0;                              // 0: as it is
    int density = 0;                                        // 0: as it is
    static ScreenWish from_json(const JsonFields& fields);  // throws invalid_argument
};

}  // namespace svc::streamer

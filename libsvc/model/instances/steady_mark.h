#pragma once
// A moment of the steady clock, which no setting of the date moves. Two of them are comparable within one
// boot of the machine, whichever process has taken them.
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/interned.h"
#include "libsvc/base/json.h"

namespace svc {

struct SteadyMark {
    Interned<std::string> boot;  // the id of the boot; "": no moment
    SteadyTime at{};
    Json to_json() const;  // null: no moment
    static SteadyMark from_json(const JsonFields& fields, std::string_view key);
};

}  // namespace svc

#pragma once
// What an operator lets pass between a client and the guest (docs/exchange.md): items of the platform.
#include "libsvc/base/json.h"

namespace svc::streamer {

struct Permissions {
    bool clipboard_to_instance = true, clipboard_from_instance = true;
    bool files_to_instance = true, files_from_instance = true;

    // An agent of before these items allows all.
    static Permissions from_items(const JsonFields& items);
};

}  // namespace svc::streamer

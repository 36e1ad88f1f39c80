#pragma once
// What an operator lets pass between a client and the guest (docs/exchange.md): items of the platform.
#include "libsvc/base/json.h"

namespace svc::streamer {

struct Permissions {
    // Nothing, until the agent has told what.
    bool clipboard_to_instance = false, clipboard_from_instance = false;
    bool files_to_instance = false, files_from_instance = false;

    // An agent of before these items allows all.
    static Permissions from_items(const JsonFields& items);
};

}  // namespace svc::streamer

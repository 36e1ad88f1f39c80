#pragma once
// Internal to this folder: wakes many upgraded connections of an I/O thread together. A wake-up of its own
// for each message of each connection would cost a system call each.
#include <memory>

#include "libsvc/net/server/io_loop.h"

namespace svc::net {

// Calls `connection`'s pump() on the loop's thread, in the next batch. A batch waits for up to 25 ms after
// the one before it, the longer the more connections that one had. Any thread.
void wake_in_batch(IoLoop& loop, std::weak_ptr<UpgradedConnection> connection);

}  // namespace svc::net

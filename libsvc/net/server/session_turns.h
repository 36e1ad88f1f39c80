#pragma once
// Internal to this folder: turns for many upgraded connections at once. Waking each by itself for each of its
// messages would cost a system call a message and connection.
#include <memory>

#include "libsvc/net/server/io_loop.h"

namespace svc::net {

// Has `who` pumped on the loop's thread, soon: the later, the more connections had the turn before. Any
// thread.
void ask_for_turn(IoLoop& loop, std::weak_ptr<Upgraded> who);

}  // namespace svc::net

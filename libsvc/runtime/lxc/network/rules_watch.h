#pragma once
// Tells when somebody removes rules of nftables: a firewall that starts again flushes all that there are.
#include <functional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/processes/watcher.h"

namespace svc::lxc {

// Calls `removed` on a thread of its own soon after tables of this name, chains of theirs or rules have been
// removed, by whomever; several removals may become one call. A call that throws is logged and made again a
// second later. The destructor waits for a call. The constructor throws internal when the kernel tells
// nothing.
class RulesWatch {
  public:
    RulesWatch(std::string table, std::function<void()> removed);

  private:
    void await();
    void look();
    bool was_removed();
    void tell();

    std::string table_;
    std::function<void()> removed_;
    FileDescriptor socket_;
    Watcher watcher_;  // last: its thread uses all above
};

// Whether messages of the kernel's group of nftables tell of a removal from a table of this name. Pure.
bool tells_removal(std::string_view messages, std::string_view table);

}  // namespace svc::lxc

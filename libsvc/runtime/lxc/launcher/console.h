#pragma once
// What the guest writes to its console, in a file of limited size.
#include <cstdint>
#include <string>

#include "libsvc/runtime/lxc/launcher/descriptor.h"

namespace svc::lxc {

class ConsoleLog {
  public:
    // Continues the file. Throws LaunchFailure.
    ConsoleLog(const std::string& file, std::uint64_t limit);
    // Takes what is there to read. A file that would become too large begins anew.
    void take(int console);

  private:
    Descriptor file_;
    std::uint64_t limit_;
};

}  // namespace svc::lxc

#pragma once
// Which cores the pinned containers of this daemon have.
#include <map>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"

namespace svc::lxc {

// Thread-safe.
class CorePins {
  public:
    explicit CorePins(std::vector<unsigned> cores) : cores_(std::move(cores)) {}

    // Whole cores for `cpus` of them, those that the fewest containers have; what `id` had before is given
    // back. All of them when there are no more.
    std::vector<unsigned> choose(const std::string& id, double cpus);
    void remember(const std::string& id, std::vector<unsigned> cores);  // of a container that runs already
    void release(const std::string& id);

  private:
    std::vector<unsigned> cores_;
    Guarded<std::map<std::string, std::vector<unsigned>>> pinned_;
};

std::vector<unsigned> usable_cores();  // that this process may run on

}  // namespace svc::lxc

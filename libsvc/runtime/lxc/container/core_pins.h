#pragma once
// The cores that the pinned containers of this daemon have.
#include <map>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"

namespace svc::lxc {

// Thread-safe.
class CorePins {
  public:
    explicit CorePins(std::vector<unsigned> cores) : cores_(std::move(cores)) {}

    // Chooses whole cores, those that the fewest containers have; `cpus` is rounded up. All cores when there
    // are not more. Releases the cores that `id` had before.
    std::vector<unsigned> choose(const std::string& id, double cpus);
    void remember(const std::string& id, std::vector<unsigned> cores);  // of a container that was adopted
    void release(const std::string& id);

  private:
    std::vector<unsigned> cores_;
    Guarded<std::map<std::string, std::vector<unsigned>>> pinned_;
};

std::vector<unsigned> usable_cores();  // the cores that this process may run on

}  // namespace svc::lxc

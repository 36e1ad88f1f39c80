#pragma once
// Makes a container's writable folder into the content of a layer, by moving it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/layout.h"

namespace svc::lxc {

// For a container that does not run and is not mounted. One thread at a time. The steps, each repeatable:
//
//   1. `upper` is renamed to `capture/rootfs`. From here on the container has no `upper`, and this is how the
//   state is
//      told: `capture/rootfs` is there (in the middle) or not (done, or never begun). Both are never there at
//      once.
//   2. What is to be left out is removed from it, and so are marks that mean nothing or the wrong thing in a
//   lower
//      layer: the overlay's own references and the number of the disk quota. Its bytes are counted.
//   3. `layer.json` is written beside it; everything is synced.
//   4. The owner of the layers renames `capture` to the layer's place and syncs that. The layer is there,
//   whole.
//   5. The container gets an empty `upper`.
//
// Killed after 1, 2 or 3: take() again goes on, with whatever layer name, and a container that is started
// instead gets its folder back by put_back(). What step 2 removed by then does not come back; placed files
// are placed again when the container is created again. Killed after 4: the layer exists, and whoever starts
// or captures makes the `upper`.
class Capture {
  public:
    Capture(const Layout& layout, const std::string& id);

    bool begun() const;
    void put_back() const;  // undoes step 1; nothing begun is fine
    // Steps 1 to 3. Paths are absolute inside the container; links in them are not followed. Throws
    // invalid_argument for a tree nested too deeply. Returns the folder to be published.
    std::filesystem::path take(const std::vector<std::string>& left_out) const;

  private:
    std::filesystem::path upper_, capture_;
};

}  // namespace svc::lxc

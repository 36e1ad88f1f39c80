#pragma once
// Moves the writable folder of a container to where it becomes a layer.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/layout.h"

namespace svc::lxc {

// Makes `folder`/rootfs, which holds what a container has changed, the content of a layer: removes `left_out`
// (absolute paths inside the container; links in them are not followed) and the marks that mean nothing in a
// lower layer, writes `folder`/layer.json, syncs everything. Repeatable. Throws invalid_argument for a tree
// nested too deeply.
void finish_layer(const std::filesystem::path& folder, const std::vector<std::string>& left_out);

// For a container that does not run and is not mounted. One thread at a time. Each step can be repeated:
//
// 1. `upper` is renamed to `capture/rootfs`. Where `capture/rootfs` exists, a capture is under way;
//    `upper` and `capture/rootfs` never exist at once.
// 2. Files to be left out are removed, and so are the marks that have no meaning or a wrong one in a
//    lower layer: references of the overlay and the number of the disk quota.
//    The bytes of the layer are counted.
// 3. `layer.json` is written beside `rootfs`.
//    Everything is synced.
// 4. The owner of the layers renames `capture` to the place of the layer and syncs that place.
//    The layer is complete.
// 5. The container gets an empty `upper`.
//
// After a crash behind 1, 2 or 3, take() continues, also for a layer with another name. A container that is
// started instead gets its folder back by put_back(), without the files that step 2 has removed; placed files
// are placed again when the container is created again. After a crash behind 4 the layer exists, and the next
// start or capture makes the `upper`.
class Capture {
  public:
    Capture(const Layout& layout, const std::string& id);

    bool begun() const;
    void put_back() const;  // undoes step 1; does nothing when no capture is under way
    // Steps 1 to 3. Paths are absolute inside the container; links in them are not followed. Throws
    // invalid_argument for a tree nested too deeply. Returns the folder to be published.
    std::filesystem::path take(const std::vector<std::string>& left_out) const;

  private:
    std::filesystem::path upper_, capture_;
};

}  // namespace svc::lxc

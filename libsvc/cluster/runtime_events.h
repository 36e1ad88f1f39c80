#pragma once
// The events of this machine's runtime, which has one listener, for several: the leader in this process, and
// leaders elsewhere that follow this node.
#include <functional>
#include <memory>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. Is the runtime's listener as long as it exists; end it before the runtime.
class RuntimeEvents {
  public:
    using Listener = std::function<void(const RuntimeEvent&)>;
    explicit RuntimeEvents(Runtime& runtime);
    ~RuntimeEvents();
    RuntimeEvents(const RuntimeEvents&) = delete;
    RuntimeEvents& operator=(const RuntimeEvents&) = delete;
    // Called on the runtime's thread until the returned object ends; a call that runs then may still come to
    // its end.
    [[nodiscard]] std::shared_ptr<void> subscribe(Listener listener);

  private:
    void tell(const RuntimeEvent& event);

    Runtime& runtime_;
    Guarded<std::vector<std::weak_ptr<Listener>>> listeners_;
};

}  // namespace svc

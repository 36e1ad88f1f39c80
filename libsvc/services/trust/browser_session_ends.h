#pragma once
// Tells that the session of a browser has ended, whoever has stored that: this process, or another manager.
#include <functional>

#include "libsvc/base/guarded.h"
#include "libsvc/services/common/browser_session_records.h"

namespace svc {

// Thread-safe. Outlives the collection that it observes.
class BrowserSessionEnds {
  public:
    // For the constructor of the collection.
    BrowserSessions::Observer observer() {
        return [this](const BrowserSession*, const BrowserSession* after) {
            if (after) return;
            listener_.with([](const auto& listener) {
                if (listener) listener();
            });
        };
    }
    // Called with the collection's lock held: must be quick and not use it. Not called any more once it was
    // set anew.
    void on_end(std::function<void()> listener) {
        listener_.with([&](auto& present) { present = std::move(listener); });
    }

  private:
    Guarded<std::function<void()>> listener_;
};

}  // namespace svc

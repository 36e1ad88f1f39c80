#pragma once
// The watches of a store: prefixes and their callbacks, called one after the other by the store's own thread.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/store/store.h"

namespace svc {

// Thread-safe; `notify` is for one thread.
class WatchList {
  public:
    std::unique_ptr<Subscription> add(std::string prefix, Store::OnChange on_change);
    // Calls the watches of what one commit changed. When one throws, the others are called all the same.
    void notify(const std::vector<WatchEvent>& events);

  private:
    struct Watcher;
    struct State;
    class Watch;
    std::shared_ptr<State> state_ = make_state();
    static std::shared_ptr<State> make_state();
};

}  // namespace svc

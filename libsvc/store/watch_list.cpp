#include "libsvc/store/watch_list.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "libsvc/base/log.h"

namespace svc {

struct WatchList::Watcher {
    std::string prefix;
    Store::OnChange on_change;
    // Held during a call, so that ending the watch waits for it; recursive, so that a call may end its own
    // watch.
    std::recursive_mutex calling;
    bool active = true;
};

struct WatchList::State {
    std::mutex mutex;
    std::vector<std::shared_ptr<Watcher>> watchers;
};

class WatchList::Watch final : public Subscription {
  public:
    Watch(std::shared_ptr<State> state, std::shared_ptr<Watcher> watcher)
        : state_(std::move(state)), watcher_(std::move(watcher)) {}
    ~Watch() override {
        {
            std::lock_guard lock(state_->mutex);
            std::erase(state_->watchers, watcher_);
        }
        std::lock_guard lock(watcher_->calling);
        watcher_->active = false;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

  private:
    std::shared_ptr<State> state_;
    std::shared_ptr<Watcher> watcher_;
};

std::shared_ptr<WatchList::State> WatchList::make_state() {
    return std::make_shared<State>();
}

std::unique_ptr<Subscription> WatchList::add(std::string prefix, Store::OnChange on_change) {
    auto watcher = std::make_shared<Watcher>();
    watcher->prefix = std::move(prefix);
    watcher->on_change = std::move(on_change);
    auto watch = std::make_unique<Watch>(state_, watcher);
    std::lock_guard lock(state_->mutex);
    state_->watchers.push_back(std::move(watcher));
    return watch;
}

void WatchList::notify(const std::vector<WatchEvent>& events) {
    std::vector<std::shared_ptr<Watcher>> watchers;
    {
        std::lock_guard lock(state_->mutex);
        watchers = state_->watchers;
    }
    for (const auto& watcher : watchers) {
        std::vector<WatchEvent> wanted;
        std::copy_if(events.begin(), events.end(), std::back_inserter(wanted),
                     [&](const WatchEvent& event) { return event.key.starts_with(watcher->prefix); });
        if (wanted.empty()) continue;
        std::lock_guard lock(watcher->calling);
        if (!watcher->active) continue;
        try {
            watcher->on_change(wanted);
        } catch (const std::exception& e) {
            log::debug("watch of the store failed", {{"prefix", watcher->prefix}, {"error", e.what()}});
        }
    }
}

}  // namespace svc

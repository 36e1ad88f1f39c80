#pragma once
// A callback that several threads may call and that runs once: for an end that is reached by an answer, by a
// time-out or by a cancellation, whichever comes first.
#include <functional>
#include <utility>

#include "libsvc/base/guarded.h"

namespace svc {

// Thread-safe. The first call wins; it runs the callback in its own thread, without a lock, and frees it
// afterwards.
template <class... Args>
class Once {
  public:
    explicit Once(std::function<void(Args...)> callback) : callback_(std::move(callback)) {}

    // True when this call ran the callback; false when an earlier call (or dismiss()) was first.
    bool operator()(Args... args) {
        const auto callback = take();
        if (!callback) return false;
        callback(std::forward<Args>(args)...);
        return true;
    }
    // Drops the callback without calling it. False when it was taken before.
    bool dismiss() { return static_cast<bool>(take()); }
    bool used() const {
        return callback_.with([](const auto& callback) { return !callback; });
    }

  private:
    std::function<void(Args...)> take() {
        return callback_.with([](auto& callback) { return std::exchange(callback, nullptr); });
    }

    Guarded<std::function<void(Args...)>> callback_;
};

}  // namespace svc

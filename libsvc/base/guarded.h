#pragma once
// A mutex that owns its value: code that uses the value without the lock does not compile.
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace svc {

// Thread-safe. Never hold the lock across a call to a seam or the event bus.
template <class T>
class Guarded {
  public:
    Guarded() = default;
    explicit Guarded(T value) : value_(std::move(value)) {}

    template <class F>
    decltype(auto) with(F&& f) {
        std::lock_guard lock(mutex_);
        return std::forward<F>(f)(value_);
    }
    template <class F>
    decltype(auto) with(F&& f) const {
        std::lock_guard lock(mutex_);
        return std::forward<F>(f)(value_);
    }

  private:
    mutable std::mutex mutex_;
    T value_{};
};

}  // namespace svc

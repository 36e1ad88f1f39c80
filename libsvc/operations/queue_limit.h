#pragma once
// How many operations are accepted and have not begun.
#include <atomic>
#include <cstddef>

#include "libsvc/base/error.h"

namespace svc {

// Thread-safe.
class QueueLimit {
  public:
    explicit QueueLimit(std::size_t max) : max_(max) {}

    void enter() {  // throws exhausted "operation queue is full"
        if (queued_.fetch_add(1) < max_) return;
        leave();
        throw Error(ErrorCode::exhausted, "operation queue is full");
    }
    void enter_anyway() { ++queued_; }  // for operations of an earlier process
    void leave() { --queued_; }
    std::size_t queued() const { return queued_; }

  private:
    const std::size_t max_;
    std::atomic<std::size_t> queued_{0};
};

}  // namespace svc

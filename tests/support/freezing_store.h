#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/store/store.h"

namespace svc::test {

// A store whose disk goes away: from some commit on, nothing is committed any more. Whoever tries waits until
// the test lets go, and is told then that the daemon stops. Thread-safe.
class FreezingStore final : public Store {
  public:
    explicit FreezingStore(Store& inner) : inner_(inner) {}
    // The next `commits` are made.
    void freeze_after(std::size_t commits) {
        std::lock_guard lock(mutex_);
        left_ = commits;
    }
    void let_go() {
        std::lock_guard lock(mutex_);
        let_go_ = true;
        changed_.notify_all();
    }
    void thaw() {
        std::lock_guard lock(mutex_);
        left_.reset();
        waiting_ = 0;
        let_go_ = false;
    }
    bool is_frozen() const {
        std::lock_guard lock(mutex_);
        return waiting_ > 0;
    }
    // Called once somebody waits.
    void on_frozen(std::function<void()> tell) { tell_ = std::move(tell); }

    std::optional<Entry> get(std::string_view key) override { return inner_.get(key); }
    std::vector<Entry> list(std::string_view prefix) override { return inner_.list(prefix); }
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override {
        return inner_.watch(std::move(prefix), std::move(on_change));
    }
    Revision commit(const Batch& batch) override {
        {
            std::unique_lock lock(mutex_);
            if (left_ && *left_ == 0) {
                ++waiting_;
                lock.unlock();
                if (tell_) tell_();
                lock.lock();
                changed_.wait(lock, [this] { return let_go_; });
                throw Error(ErrorCode::cancelled, "service is stopping");
            }
            if (left_) --*left_;
        }
        return inner_.commit(batch);
    }

  private:
    Store& inner_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> tell_;
    std::optional<std::size_t> left_;
    std::size_t waiting_ = 0;
    bool let_go_ = false;
};

}  // namespace svc::test

#pragma once
// A store around another one whose n-th commit goes wrong.
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/store/store.h"

namespace svc::test {

// Thread-safe. Commits are counted from 1, over all threads; each plan strikes once.
class FailingStore final : public Store {
  public:
    explicit FailingStore(Store& inner) : inner_(inner) {}

    // The n-th commit changes nothing and throws.
    void fail_commit(std::size_t n, ErrorCode code = ErrorCode::unavailable) { plan(n, {false, code}); }
    // The n-th commit is made, but its answer is lost: it throws as if it had not been.
    void hide_commit(std::size_t n, ErrorCode code = ErrorCode::unavailable) { plan(n, {true, code}); }
    // As fail_commit and hide_commit, for the next commit to come.
    void fail_next(ErrorCode code = ErrorCode::unavailable) { fail_commit(commits() + 1, code); }
    void hide_next(ErrorCode code = ErrorCode::unavailable) { hide_commit(commits() + 1, code); }
    // All commits from now on; false: none but those that are planned.
    void fail_all(bool fail) {
        std::lock_guard lock(mutex_);
        failing_ = fail;
    }
    // Called once, after the next commit and before its answer.
    void after_next(std::function<void()> hook) {
        std::lock_guard lock(mutex_);
        after_next_ = std::move(hook);
    }
    std::size_t commits() const {
        std::lock_guard lock(mutex_);
        return commits_;
    }

    std::optional<Entry> get(std::string_view key) override { return inner_.get(key); }
    std::vector<Entry> list(std::string_view prefix) override { return inner_.list(prefix); }
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override {
        return inner_.watch(std::move(prefix), std::move(on_change));
    }
    Revision commit(const Batch& batch) override {
        const auto fault = next();
        if (fault && !fault->committed) throw Error(fault->code, "commit failed for a test");
        const Revision revision = inner_.commit(batch);
        if (const auto hook = take_hook()) hook();
        if (fault) throw Error(fault->code, "answer of a commit lost for a test");
        return revision;
    }

  private:
    struct Fault {
        bool committed;
        ErrorCode code;
    };
    void plan(std::size_t n, Fault fault) {
        std::lock_guard lock(mutex_);
        faults_.insert_or_assign(n, fault);
    }
    std::optional<Fault> next() {
        std::lock_guard lock(mutex_);
        const auto found = faults_.find(++commits_);
        if (failing_) return Fault{false, ErrorCode::unavailable};
        return found == faults_.end() ? std::nullopt : std::optional(found->second);
    }

    std::function<void()> take_hook() {
        std::lock_guard lock(mutex_);
        return std::exchange(after_next_, nullptr);
    }

    Store& inner_;
    mutable std::mutex mutex_;
    std::size_t commits_ = 0;
    bool failing_ = false;
    std::function<void()> after_next_;
    std::map<std::size_t, Fault> faults_;
};

}  // namespace svc::test

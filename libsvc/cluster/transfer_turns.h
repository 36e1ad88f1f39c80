#pragma once
// Lets one transfer of a package run at a time, and few of different ones.
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace svc {

// Thread-safe.
class TransferTurns {
  public:
    explicit TransferTurns(std::size_t at_once) : at_once_(at_once) {}

    // While it lives, no other one of this digest does.
    class Turn {
      public:
        Turn(TransferTurns& turns, std::string digest) : turns_(turns), digest_(std::move(digest)) {
            turns_.begin(digest_);
        }
        ~Turn() { turns_.end(digest_); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

      private:
        TransferTurns& turns_;
        const std::string digest_;
    };

  private:
    void begin(const std::string& digest) {
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [&] { return running_.size() < at_once_ && !running_.contains(digest); });
        running_.insert(digest);
    }
    void end(const std::string& digest) {
        const std::lock_guard lock(mutex_);
        running_.erase(digest);
        ended_.notify_all();
    }

    const std::size_t at_once_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::set<std::string> running_;
};

}  // namespace svc

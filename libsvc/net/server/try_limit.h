#pragma once
// Limits how often a secret may be guessed.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

// So many at once, and one more each time that a pause has passed. Not thread-safe.
class TryBudget {
  public:
    TryBudget(int at_once, Duration pause) : most_(at_once * pause), pause_(pause) {}
    bool take(SteadyTime now);  // false: there is none at present
    void give_back() { all_free_at_ -= pause_; }

  private:
    Duration most_, pause_;
    SteadyTime all_free_at_{};  // when all that were taken have come back
};

// Thread-safe. After five wrong tries from an address all its tries are refused for 10 s, after each five
// more for twice as long, up to 5 minutes. The addresses of one IPv6 network (/64) count as one. At most 4096
// addresses are kept, for an hour; the one that was idle longest is dropped.
// Passwords are limited over all addresses as well: a hundred at once, then one every six seconds. An address
// without wrong tries takes its password from a reserve of its own kind instead, a thousand at once, then one
// a second: however many tries others repeat, whoever comes for the first time is let in.
class TryLimit {
  public:
    // A token cannot be guessed, however many tries there are; its tries cost time.
    enum class Secret { token, password };

    explicit TryLimit(const Clock& clock);

    // One try; counts as wrong unless was_right() is called. Destroy it before the limit.
    class Attempt {
      public:
        Attempt(TryLimit& limit, std::string key, TryBudget* budget)
            : limit_(limit), key_(std::move(key)), budget_(budget) {}
        ~Attempt() { limit_.end(key_, budget_, right_); }
        Attempt(const Attempt&) = delete;
        Attempt& operator=(const Attempt&) = delete;
        void was_right() { right_ = true; }

      private:
        TryLimit& limit_;
        std::string key_;
        TryBudget* budget_;  // that it was taken from; a token has none
        bool right_ = false;
    };
    // Throws forbidden while the address is blocked, or has as many tries in progress as it has left; for a
    // password also while there were too many wrong ones from everywhere.
    std::unique_ptr<Attempt> begin(std::string_view address, Secret secret);

  private:
    struct Address {
        int wrong = 0, under_way = 0, blocks = 0;
        SteadyTime blocked_until{}, last_seen{};
        bool spotless() const { return wrong == 0 && under_way == 0 && blocks == 0; }
    };
    void end(const std::string& key, TryBudget* budget, bool right);
    void refuse_blocked(const Address& at, SteadyTime now) const;
    TryBudget& take(const Address& at, SteadyTime now);
    Address& entry(const std::string& key, SteadyTime now);

    const Clock& clock_;
    std::mutex mutex_;
    std::map<std::string, Address> addresses_;
    TryBudget first_, repeated_;
};

}  // namespace svc

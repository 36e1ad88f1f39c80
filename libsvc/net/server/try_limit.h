#pragma once
// Limits how often a secret may be guessed.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

// Thread-safe. After five wrong tries from an address all its tries are refused for 10 s, after five more
// for twice as long, and so on up to 5 minutes. The addresses of one IPv6 network (/64) count as one. At most
// 4096 addresses are kept; the one that was idle longest is dropped, one whose last secret was right only
// after all others. Wrong passwords are limited over all addresses as well: a hundred at once, then one every
// six seconds. One address alone never has more than ten of them, because it is refused ever longer; one
// whose last secret was right needs none.
class TryLimit {
  public:
    // A token cannot be guessed, however many tries there are; its tries cost time.
    enum class Secret { token, password };

    explicit TryLimit(const Clock& clock) : clock_(clock) {}

    // One try; counts as wrong unless was_right() is called. Destroy it before the limit.
    class Attempt {
      public:
        Attempt(TryLimit& limit, std::string key, bool taken)
            : limit_(limit), key_(std::move(key)), taken_(taken) {}
        ~Attempt() { limit_.end(key_, taken_, right_); }
        Attempt(const Attempt&) = delete;
        Attempt& operator=(const Attempt&) = delete;
        void was_right() { right_ = true; }

      private:
        TryLimit& limit_;
        std::string key_;
        bool taken_;  // from what all addresses have together
        bool right_ = false;
    };
    // Throws forbidden while the address is blocked, or has as many tries in progress as it has left; for a
    // password also while there were too many wrong ones from everywhere, unless the last one of the address
    // was right.
    std::unique_ptr<Attempt> begin(std::string_view address, Secret secret);

  private:
    struct Address {
        int wrong = 0, under_way = 0, blocks = 0;
        bool known = false;  // its last secret was right
        SteadyTime blocked_until{}, last_seen{};
    };
    void end(const std::string& key, bool taken, bool right);
    void take_from_all(SteadyTime now);
    void forget_idle(SteadyTime now);
    Address& entry(const std::string& key, SteadyTime now);

    const Clock& clock_;
    std::mutex mutex_;
    std::map<std::string, Address> addresses_;
    SteadyTime all_free_at_{};  // when all passwords that were tried are made up for
};

}  // namespace svc

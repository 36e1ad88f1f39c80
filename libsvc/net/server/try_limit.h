#pragma once
// Limits how often a secret may be guessed.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

// Thread-safe. After five wrong tries from an address all its tries are refused for 10 s. The addresses of
// one IPv6 network (/64) count as one. At most 4096 addresses are kept; the one that was idle longest is
// dropped. Wrong passwords are limited over all addresses as well: a hundred at once, then one every six
// seconds.
class TryLimit {
  public:
    // A token cannot be guessed, however many tries there are; its tries cost time.
    enum class Secret { token, password };

    explicit TryLimit(const Clock& clock) : clock_(clock) {}

    // One try; counts as wrong unless was_right() is called. Destroy it before the limit.
    class Attempt {
      public:
        Attempt(TryLimit& limit, std::string key, Secret secret)
            : limit_(limit), key_(std::move(key)), secret_(secret) {}
        ~Attempt() { limit_.end(key_, secret_, right_); }
        Attempt(const Attempt&) = delete;
        Attempt& operator=(const Attempt&) = delete;
        void was_right() { right_ = true; }

      private:
        TryLimit& limit_;
        std::string key_;
        Secret secret_;
        bool right_ = false;
    };
    // Throws forbidden while the address is blocked, or has as many tries in progress as it has left; for a
    // password also while there were too many wrong ones from everywhere.
    std::unique_ptr<Attempt> begin(std::string_view address, Secret secret);

  private:
    struct Address {
        int wrong = 0, under_way = 0;
        SteadyTime blocked_until{}, last_seen{};
    };
    void end(const std::string& key, Secret secret, bool right);
    void take_from_all(SteadyTime now);
    Address& entry(const std::string& key, SteadyTime now);

    const Clock& clock_;
    std::mutex mutex_;
    std::map<std::string, Address> addresses_;
    SteadyTime all_free_at_{};  // when all passwords that were tried are made up for
};

}  // namespace svc

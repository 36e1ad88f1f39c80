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
// dropped.
class TryLimit {
  public:
    explicit TryLimit(const Clock& clock) : clock_(clock) {}

    // One try; counts as wrong unless was_right() is called. Destroy it before the limit.
    class Attempt {
      public:
        Attempt(TryLimit& limit, std::string key) : limit_(limit), key_(std::move(key)) {}
        ~Attempt() { limit_.end(key_, right_); }
        Attempt(const Attempt&) = delete;
        Attempt& operator=(const Attempt&) = delete;
        void was_right() { right_ = true; }

      private:
        TryLimit& limit_;
        std::string key_;
        bool right_ = false;
    };
    // Throws forbidden while the address is blocked, or has as many tries in progress as it has left.
    std::unique_ptr<Attempt> begin(std::string_view address);

  private:
    struct Address {
        int wrong = 0, under_way = 0;
        SteadyTime blocked_until{}, last_seen{};
    };
    void end(const std::string& key, bool right);
    Address& entry(const std::string& key, SteadyTime now);

    const Clock& clock_;
    std::mutex mutex_;
    std::map<std::string, Address> addresses_;
};

}  // namespace svc

#pragma once
// Spreads requests out where one source sends more of them than the service wants to take in a second: they
// are delayed, not refused.
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libsvc/base/clock.h"

namespace svc::server {

// Thread-safe. Each source may send a second's worth of requests at once, and has itself alone to wait for.
class Pacer {
  public:
    static constexpr Duration longest_delay = std::chrono::seconds(1);
    static constexpr std::size_t most_sources = 4096;

    Pacer(const Clock& clock, std::size_t per_second);  // 0: as many as come
    // What the next request of `source` has to wait; 0 mostly. What was asked for and given up again counts
    // too, so a source that owes `longest_delay` owes no more for what comes then.
    Duration delay(const std::string& source);
    std::size_t sources() const;  // that are remembered: those which asked of late

  private:
    struct Account {
        std::string source;
        SteadyTime free_at{};  // when all that was let in has had its interval
    };
    using Accounts = std::list<Account>;

    Account& account(const std::string& source, SteadyTime now);
    void forget_last();

    const Clock& clock_;
    const Duration interval_;
    mutable std::mutex mutex_;
    Accounts accounts_;                                                   // who asked last comes first
    std::unordered_map<std::string_view, Accounts::iterator> by_source_;  // the names are those in accounts_
};

}  // namespace svc::server

#pragma once
// Delays the requests of a source that sends more of them in a second than it may. They are not refused. Of
// several managers each one also counts what the others have answered (PaceExchange).
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libsvc/base/clock.h"

namespace svc::server {

// Thread-safe. Each source may send the requests of one second at once. No source waits for another one.
class Pacer {
  public:
    static constexpr Duration longest_delay = std::chrono::seconds(1);
    static constexpr std::size_t most_sources = 4096;
    using Counts = std::unordered_map<std::string, std::uint32_t>;  // requests of each source

    // 0: no limit. `counts`: take_counts() is going to be called.
    Pacer(const Clock& clock, std::size_t per_second, bool counts = false);
    // How long the next request of `source` has to wait; mostly 0. Requests count also when the client gives
    // them up; therefore the delay does not grow beyond `longest_delay`.
    Duration delay(const std::string& source);
    // So many requests of `source` were made elsewhere.
    void add(const std::string& source, std::size_t requests);
    // The calls of delay() since the last take_counts(). Sources with less than a hundredth of what they may
    // send in a second are left out, so that it tells nothing of most sources; so are those beyond
    // `most_sources`.
    Counts take_counts();
    std::size_t sources() const;  // sources that are remembered: those of recent requests

  private:
    struct Account {
        std::string source;
        SteadyTime free_at{};  // when the interval of the last admitted request is over
    };
    using Accounts = std::list<Account>;

    SteadyTime charge(const std::string& source, SteadyTime now, Duration cost);
    Account& account(const std::string& source, SteadyTime now);
    void forget_last();

    const Clock& clock_;
    const Duration interval_;
    const std::size_t few_;  // requests that are not worth telling
    const bool counting_;
    mutable std::mutex mutex_;
    Accounts accounts_;  // the source of the newest request comes first
    std::unordered_map<std::string_view, Accounts::iterator> by_source_;  // the names are those in accounts_
    Counts counts_;
};

}  // namespace svc::server

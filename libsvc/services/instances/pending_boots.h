#pragma once
// Instances whose guest is expected to report that it is up.
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/timer.h"

namespace svc {

// Thread-safe. Costs no thread per instance. How a boot ended is told once, to whoever attached, without any
// lock.
class PendingBoots {
  public:
    using Done = std::function<void(const std::optional<Error>& failure)>;  // nothing: it runs

    explicit PendingBoots(Timer& timer) : timer_(timer) {}
    // Before the guest can report. `operation`: whose end the report will be.
    void expect(const std::string& id, std::string operation);
    void forget(std::string_view id);
    bool expects(std::string_view id) const;
    // The operation that ends with this; nothing when no report is expected. The first one counts.
    std::optional<std::string> settle(std::string_view id, std::optional<Error> failure);
    // Calls `done` when settled, at once if that was before; fails with `late` after `limit`.
    void attach(const std::string& id, Duration limit, const Error& late, Done done);

  private:
    struct Boot {
        std::string operation;
        Done done;
        Timer::Ticket ticket = 0;
        bool settled = false;
        std::optional<Error> failure;
    };
    Timer& timer_;
    mutable std::mutex mutex_;
    std::map<std::string, Boot, std::less<>> boots_;
};

}  // namespace svc

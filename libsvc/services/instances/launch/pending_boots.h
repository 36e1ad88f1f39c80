#pragma once
// Instances whose guest is expected to report that it is up.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/once.h"
#include "libsvc/base/timer.h"

namespace svc {

// How long to wait for a guest, and the error of a boot that exceeded this limit.
struct BootDeadline {
    Duration limit;
    Error late;
};

// Thread-safe. Costs no thread per instance. The first of report, end of the container, timeout and
// cancellation settles a boot; later ones do nothing.
class PendingBoots {
  public:
    // Called once, without a lock, on the thread that settles the boot. Nothing: the guest is up.
    using Settled = std::function<void(const std::optional<Error>& failure)>;

    explicit PendingBoots(Timer& timer) : timer_(timer) {}
    // To be called before the guest can report. `operation`: the id of the operation that the report ends.
    void expect(const std::string& id, std::string operation, const BootDeadline& deadline, Settled settled);
    // Returns the operation that ends with this; nothing when no report is expected (any more).
    std::optional<std::string> settle(std::string_view id, const std::optional<Error>& failure);

  private:
    using First = Once<const std::optional<Error>&>;
    struct Boot {
        std::string operation;
        std::shared_ptr<First> settled;
        Timer::Ticket ticket = 0;
    };
    std::optional<Boot> take(std::string_view id);
    void time_out(const std::string& id, const std::shared_ptr<First>& settled, const Error& late);

    Timer& timer_;
    std::mutex mutex_;
    std::map<std::string, Boot, std::less<>> boots_;
};

}  // namespace svc

#pragma once
// Deletes instances whose time is over, and those that nobody has used for long (docs/management.md, "Time to
// live").
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/services/common/instance_listener.h"
#include "libsvc/services/common/instance_uses.h"

namespace svc {

// The limit that is over, as the requestor of the deletion names it.
inline constexpr const char* requestor_expired = "expired";
inline constexpr const char* requestor_idle = "idle";

// A deletion that was begun because the time of an instance is over.
struct Expiry {
    std::string instance, requestor, operation;  // ids; one of the requestors above
};

// For the change that begins the deletion. Throws precondition_failed where the record has other limits than
// those that are over: a request has extended them meanwhile.
void check_limits(const Instance& instance, const Lifetime& over);

struct InstanceExpiryParts {
    Instances& instances;
    InstanceListener& changes;  // of their records
    InstanceUses& uses;
    Clock& clock;
    // Begins a deletion and returns its operation. Throws what a client would be told, and what
    // check_limits() says of the record that it changes.
    std::function<std::string(const std::string& id, const std::string& requestor, const Lifetime& limits)>
        remove;
    std::function<void(const Expiry&)> deleted;  // called for each of them; may be empty
};

// Thread-safe. One thread, which sleeps until the first limit is over: the timer is the index of the limits
// by time. Of instances that have none nothing is kept.
class InstanceExpiry {
  public:
    // For the leader: looks at all records, and follows their changes. What is over by now is deleted soon;
    // an instance counts as used now.
    explicit InstanceExpiry(InstanceExpiryParts parts);
    ~InstanceExpiry();  // no deletion begins any more
    InstanceExpiry(const InstanceExpiry&) = delete;
    InstanceExpiry& operator=(const InstanceExpiry&) = delete;

    std::size_t pending() const { return timer_.pending(); }  // instances that wait for a limit
    std::uint64_t looks() const { return looks_; }            // how often one of them was due

  private:
    struct Limits {
        Lifetime its{};        // as in the record, but for the use
        SteadyTime expires{};  // the date may be set: this counts
        SteadyTime stored_use{};
        Timer::Ticket ticket = 0;
        std::string told;  // why it cannot be deleted
    };
    using All = std::map<std::string, Limits>;
    struct Over {
        const char* requestor;
        Lifetime limits;
    };

    void changed(const Instance* before, const Instance* after);
    void follow(const Instance& instance, bool unless_known = false);
    void take_up_anew(const std::string& id);
    void follow_uses(const std::string& id, Limits& limits, Duration idle_after);
    void forget(const std::string& id);
    void wait(const std::string& id, Limits& limits, Duration at_least = {});
    SteadyTime due(const std::string& id, const Limits& limits) const;
    void look(const std::string& id);
    std::optional<Over> over(const std::string& id);
    void remove(const std::string& id, const Over& over);
    void refused(const std::string& id, const char* requestor, const Error& error);
    void used(const std::string& id);
    void store_use(const std::string& id);

    const InstanceExpiryParts parts_;
    std::atomic<std::uint64_t> looks_{0};
    Guarded<All> limits_;
    Timer timer_;  // last: its thread uses all above
};

}  // namespace svc

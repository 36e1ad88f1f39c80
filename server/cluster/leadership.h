#pragma once
// Where the operations of the cluster are run at present, as one manager sees it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "libsvc/store/membership.h"

namespace svc::server {

// A manager that runs operations, and since when.
struct LeadingManager {
    std::uint64_t term = 0;
    Manager manager;
    bool operator==(const LeadingManager&) const = default;
};

// Thread-safe; reads memory.
class Leadership {
  public:
    explicit Leadership(Membership& membership);  // which outlives it
    bool here() const;                            // this manager runs them: recovered, and not lost yet
    std::optional<LeadingManager> elsewhere() const;
    // Operations are run here from now on, until the process ends.
    void take_over();
    // Blocks until somebody runs them. False when nobody did for so long.
    bool await(std::chrono::milliseconds limit) const;
    const Membership& membership() const { return membership_; }

  private:
    struct News;
    Membership& membership_;
    std::atomic<bool> here_{false};
    std::shared_ptr<News> news_;
    std::shared_ptr<void> listener_;
};

}  // namespace svc::server

#pragma once
// Tells that a certificate has come, gone or got another role, whoever has stored that: this process, or
// another manager.
#include <atomic>
#include <cstdint>
#include <functional>

#include "libsvc/base/guarded.h"
#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe. Outlives the collection that it observes.
class CertificateChanges {
  public:
    // For the constructor of the collection.
    Certificates::Observer observer() {
        return [this](const Certificate* before, const Certificate* after) { take(before, after); };
    }
    std::uint64_t authorities() const { return authorities_; }  // grows when an authority comes or goes
    std::uint64_t losses() const { return losses_; }  // grows when a certificate goes or gets a lower role
    // Called after either has grown, with the collection's lock held: must be quick and not use it. Not
    // called any more once it was set anew.
    void on_change(std::function<void()> listener) {
        listener_.with([&](auto& present) { present = std::move(listener); });
    }

  private:
    void take(const Certificate* before, const Certificate* after) {
        const bool authority = (before && before->is_authority) || (after && after->is_authority);
        if (authority) ++authorities_;
        const bool loss = !after || (before && after->role < before->role);
        if (loss) ++losses_;
        if (!authority && !loss) return;
        listener_.with([](const auto& listener) {
            if (listener) listener();
        });
    }

    std::atomic<std::uint64_t> authorities_{0}, losses_{0};
    Guarded<std::function<void()>> listener_;
};

}  // namespace svc

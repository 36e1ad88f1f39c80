#pragma once
// Memory of the requests that are delayed. The limits of connections do not cover it: a client can close its
// connection while its request waits.
#include <atomic>
#include <cstddef>
#include <memory>

#include "libsvc/net/http/request.h"

namespace svc::server {

// Thread-safe.
class DelayBudget {
  public:
    static constexpr std::size_t most_bytes = 8U << 20;

    // Room for `request` until the result is destroyed, which may outlive the budget. Null: there is none.
    std::shared_ptr<void> take(const Request& request);

  private:
    std::shared_ptr<std::atomic<std::size_t>> taken_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace svc::server

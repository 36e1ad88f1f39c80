#pragma once
// Internal to this folder: how long a connection waits for a peer that moves the bytes of one message.
#include <algorithm>
#include <chrono>

namespace svc::net {

// No pause may be longer than `idle`, and all pauses together not longer than `idle` and the time that the
// bytes moved so far take at the minimum rate: who sends a byte now and then does not get for ever. Only
// waiting for the peer counts.
class TransferDeadline {
  public:
    using Instant = std::chrono::steady_clock::time_point;

    // `min_rate`: bytes a second; 0: as slow as the peer likes.
    TransferDeadline(std::chrono::milliseconds idle, std::size_t min_rate)
        : idle_(idle), min_rate_(min_rate) {}

    // The end of a pause that begins now.
    Instant deadline(Instant now) const {
        if (min_rate_ == 0) return now + idle_;
        const auto earned = std::chrono::milliseconds(moved_ * 1000 / min_rate_);
        return now + std::min<Instant::duration>(idle_, idle_ + earned - waited_);
    }
    void waited(Instant::duration pause) { waited_ += pause; }
    void moved(std::size_t bytes) { moved_ += bytes; }

  private:
    std::chrono::milliseconds idle_;
    std::size_t min_rate_;
    std::uint64_t moved_ = 0;
    Instant::duration waited_{};
};

}  // namespace svc::net

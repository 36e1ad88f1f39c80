#pragma once
// Congestion control: the target bitrate from the receiver's reports, by additive increase and multiplicative
// decrease. Pure: the caller gives the time.
#include <chrono>
#include <deque>
#include <optional>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

struct ReceiverReport {
    double loss = 0;                                   // part of the packets since the last report, 0 to 1
    std::optional<std::chrono::duration<double>> rtt;  // nothing: not measured
    std::optional<double> received_kbps;               // from transport-wide feedback, if there is any
    std::optional<std::uint32_t> packets = {};         // packets that `loss` covers; nothing: enough to trust
};

// One thread.
class Congestion {
  public:
    using Moment = std::chrono::steady_clock::time_point;
    explicit Congestion(BitrateLimits limits);  // both set, least <= most

    std::uint32_t target_kbps() const { return static_cast<std::uint32_t>(target_); }
    void set_limits(BitrateLimits limits);
    // Takes a report. True: the target has changed. At most one step in 250 ms: reports in between are
    // ignored.
    bool heed(const ReceiverReport& report, Moment now);

  private:
    static bool is_losing(const ReceiverReport& report);
    bool congested(const ReceiverReport& report) const;
    void remember_rtt(const ReceiverReport& report, Moment now);
    void decrease(const ReceiverReport& report, Moment now);
    void increase(Moment now);

    struct Rtt {
        Moment when;
        double seconds;
    };
    BitrateLimits limits_;
    double target_;
    std::optional<double> ceiling_;  // the target at the last congestion: grows slowly near it
    std::deque<Rtt> rtts_;           // round trips of the last ten seconds
    std::optional<Moment> last_step_, last_decrease_;
};

}  // namespace svc::streamer

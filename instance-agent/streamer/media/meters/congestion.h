#pragma once
// How many bits a second may be sent, by what the receiver reports: additive increase, multiplicative
// decrease. Pure: time is told to it.
#include <chrono>
#include <deque>
#include <optional>

#include "instance-agent/streamer/client/peer.h"

namespace svc::streamer {

struct ReceiverReport {
    double loss = 0;                                   // of the packets since the last one, 0 to 1
    std::optional<std::chrono::duration<double>> rtt;  // nothing: not measured yet
    std::optional<double> received_kbps;               // what arrived, where transport-wide feedback says so
    std::optional<std::uint32_t> packets = {};         // that the loss is of; nothing: enough
};

// One thread.
class Congestion {
  public:
    using Moment = std::chrono::steady_clock::time_point;
    explicit Congestion(BitrateLimits limits);  // both set, least <= most

    std::uint32_t target_kbps() const { return static_cast<std::uint32_t>(target_); }
    void set_limits(BitrateLimits limits);
    // True: the target has moved. At most one step in 250 ms, so a report that comes sooner is not heeded.
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
    std::optional<double> ceiling_;  // where it went wrong the last time: beyond it in small steps
    std::deque<Rtt> rtts_;           // of the last ten seconds
    std::optional<Moment> last_step_, last_decrease_;
};

}  // namespace svc::streamer

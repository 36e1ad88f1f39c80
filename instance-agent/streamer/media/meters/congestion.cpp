#include "instance-agent/streamer/media/meters/congestion.h"

#include <algorithm>

namespace svc::streamer {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds least_step{0.25};
constexpr Seconds hold_after_decrease{1.5};
constexpr Seconds rtt_window{10};
constexpr double loss_tolerated = 0.02, loss_congested = 0.08;
constexpr std::uint32_t telling_packets = 20;  // a still screen sends few packets: one loss is no congestion
constexpr double rtt_growth = 0.06;            // seconds of queue before the path counts as congested
constexpr double delay_factor = 0.85;          // factor for the target when delay grows
constexpr double fast_growth = 0.08;           // part of the target, per second
constexpr double careful_growth_kbps = 60;     // per second, near the ceiling

bool is_telling(const ReceiverReport& report) {
    return !report.packets || *report.packets >= telling_packets;
}

}  // namespace

Congestion::Congestion(BitrateLimits limits)
    : limits_(limits), target_((limits.least_kbps + limits.most_kbps) / 2.0) {}

void Congestion::set_limits(BitrateLimits limits) {
    limits_ = limits;
    target_ = std::clamp<double>(target_, limits.least_kbps, limits.most_kbps);
}

bool Congestion::heed(const ReceiverReport& report, Moment now) {
    if (last_step_ && now - *last_step_ < least_step) return false;
    remember_rtt(report, now);
    const double before = target_;
    if (congested(report))
        decrease(report, now);
    else if (report.loss <= loss_tolerated && is_telling(report))
        increase(now);
    last_step_ = now;
    target_ = std::clamp<double>(target_, limits_.least_kbps, limits_.most_kbps);
    return target_kbps() != static_cast<std::uint32_t>(before);
}

void Congestion::remember_rtt(const ReceiverReport& report, Moment now) {
    while (!rtts_.empty() && now - rtts_.front().when > rtt_window) rtts_.pop_front();
    if (report.rtt) rtts_.push_back({now, report.rtt->count()});
}

bool Congestion::is_losing(const ReceiverReport& report) {
    return report.loss >= loss_congested && is_telling(report);
}

bool Congestion::congested(const ReceiverReport& report) const {
    if (is_losing(report)) return true;
    if (!report.rtt || rtts_.empty()) return false;
    const auto less = [](const Rtt& a, const Rtt& b) { return a.seconds < b.seconds; };
    const double base = std::min_element(rtts_.begin(), rtts_.end(), less)->seconds;
    return report.rtt->count() > base * 1.5 + rtt_growth;
}

// A queue in the network takes time to empty: one decrease answers all reports of that time, unless packets
// are lost.
void Congestion::decrease(const ReceiverReport& report, Moment now) {
    const bool losing = is_losing(report);
    if (!losing && last_decrease_ && now - *last_decrease_ < Seconds(1)) return;
    ceiling_ = target_;
    target_ *= losing ? 1 - report.loss / 2 : delay_factor;
    if (report.received_kbps && *report.received_kbps > 0)
        target_ = std::min(target_, std::max(*report.received_kbps * 0.95, target_ / 2));
    last_decrease_ = now;
}

void Congestion::increase(Moment now) {
    if (last_decrease_ && now - *last_decrease_ < hold_after_decrease) return;
    const double seconds =
        last_step_ ? std::min(Seconds(now - *last_step_).count(), 1.0) : least_step.count();
    const bool careful = ceiling_ && target_ > *ceiling_ * 0.9 && target_ < *ceiling_ * 1.1;
    target_ += careful ? careful_growth_kbps * seconds : target_ * fast_growth * seconds;
    if (ceiling_ && target_ > *ceiling_ * 1.1) ceiling_.reset();
}

}  // namespace svc::streamer

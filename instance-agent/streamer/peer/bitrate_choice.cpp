#include "instance-agent/streamer/peer/bitrate_choice.h"

#include <utility>

#include "instance-agent/shared/bitrate_limits.h"

namespace svc::streamer {

BitrateLimits bitrate_limits(const PeerSetup& setup) {
    const auto side = [](int value) { return static_cast<std::uint32_t>(value); };
    const agent::BitrateRange range = agent::choose_bitrates(
        agent::read_bitrate_limits(""), {side(setup.width), side(setup.height), side(setup.fps)});
    BitrateLimits limits = setup.bitrates;
    if (limits.least_kbps == 0) limits.least_kbps = range.least;
    if (limits.most_kbps == 0) limits.most_kbps = range.most;
    if (limits.least_kbps > limits.most_kbps) std::swap(limits.least_kbps, limits.most_kbps);
    return limits;
}

std::uint32_t first_kbps(const PeerSetup& setup) {
    const BitrateLimits limits = bitrate_limits(setup);
    return limits.least_kbps + (limits.most_kbps - limits.least_kbps) / 2;
}

}  // namespace svc::streamer

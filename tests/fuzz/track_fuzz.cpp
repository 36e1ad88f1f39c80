// Recorded ways, GPX or NMEA: what is read can be replayed, each step as the location's route takes it. The
// first byte chooses the form and the speed.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "cli/tracks/track.h"
#include "libsvc/base/error.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::track_target {

namespace {

using namespace svc;
using namespace svc::cli;

void require(bool good) {
    if (!good) std::abort();
}

void require_within(const Json& update, const char* name, double least, double most) {
    const double value = update.at(name).as_double();
    require(std::isfinite(value) && value >= least && value <= most);
}

void check_replay(const Track& track, double speed) {
    Duration before{};
    for (const ReplayStep& step : plan_replay(track, speed)) {
        require(step.after >= before);
        before = step.after;
        require_within(step.update, "latitude", -90, 90);
        require_within(step.update, "longitude", -180, 180);
        require_within(step.update, "altitude", -1e8, 1e8);
        require_within(step.update, "speed", 0, 1e8);
        require_within(step.update, "bearing", 0, 360);
    }
}

}  // namespace

FUZZ_TARGET(track)(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        check_replay((data[0] & 1) != 0 ? read_gpx(text) : read_nmea(text), (data[0] & 2) != 0 ? 0.001 : 100);
    } catch (const Error& e) {
        require(e.code() == ErrorCode::invalid_argument);
    }
    return 0;
}

}  // namespace svc::fuzz::track_target

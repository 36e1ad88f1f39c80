// Positions from outside, as JSON and as lines of NMEA: what is taken makes well-formed sentences.
#include <cstdint>
#include <cstdlib>

#include "instance-agent/agent/devices/location/nmea.h"
#include "libsvc/base/error.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::nmea_target {

namespace {

void require(bool good) {
    if (!good) std::abort();
}

void check_sentences(const svc::agent::Fix& fix) {
    require(fix.latitude >= -90 && fix.latitude <= 90 && fix.longitude >= -180 && fix.longitude <= 180);
    for (const std::string& sentence : svc::agent::nmea_sentences(fix)) {
        const std::size_t star = sentence.rfind('*');
        require(star != std::string::npos && star + 3 == sentence.size());
        require(svc::agent::nmea_sentence(sentence.substr(1, star - 1)) == sentence);
        require(sentence.find("60.00000") == std::string::npos);
    }
}

}  // namespace

FUZZ_TARGET(nmea)(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto fix = svc::agent::parse_static_position(text)) check_sentences(*fix);
    try {
        check_sentences(svc::agent::read_fix(svc::Json::parse(text)));
    } catch (const svc::Error&) {
        return 0;
    }
    return 0;
}

}  // namespace svc::fuzz::nmea_target

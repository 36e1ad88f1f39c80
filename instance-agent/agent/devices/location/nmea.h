#pragma once
// A fix as a GPS receiver would tell it: NMEA 0183 sentences. Pure functions.
#include <string>
#include <string_view>
#include <vector>

#include "instance-agent/agent/devices/location/fix.h"

namespace svc::agent {

// "GPGGA,..." -> "$GPGGA,...*5C", without the end of the line.
std::string nmea_sentence(std::string_view fields);

// GGA, RMC, GSA, GST, in this order, without ends of lines. The accuracies travel as dilutions of precision,
// 19 m and 23 m a unit, and in GST.
std::vector<std::string> nmea_sentences(const Fix& fix);

// The same as a device sends them: each ended by CR LF.
std::string nmea_lines(const Fix& fix);

}  // namespace svc::agent

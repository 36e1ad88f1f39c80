#pragma once
// A fix as the NMEA 0183 sentences of a GPS receiver. Pure functions.
#include <string>
#include <string_view>
#include <vector>

#include "instance-agent/agent/devices/location/fix.h"

namespace svc::agent {

// "GPGGA,..." -> "$GPGGA,...*5C", without the end of the line.
std::string nmea_sentence(std::string_view fields);

// The sentences GGA, RMC, GSA and GST, in this order, without line ends. Accuracies are written as dilutions
// of precision, of 19 m and 23 m a unit, and in GST.
std::vector<std::string> nmea_sentences(const Fix& fix);

// The same sentences as a device sends them: each ends with CR LF.
std::string nmea_lines(const Fix& fix);

}  // namespace svc::agent

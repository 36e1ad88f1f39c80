#pragma once
// What an offer looks like to a client that knows some codecs alone, and its answer when that leaves none.
#include <string>
#include <vector>

namespace svc::streamer {

// Without the pictures' payload types that stand for none of `codecs` ("VP8", "H264"), and their
// retransmission. A section that would have none left stays as it is.
std::string known_part(const std::string& offer, const std::vector<std::string>& codecs);
bool knows_display(const std::string& offer, const std::vector<std::string>& codecs);
std::string without_pictures(const std::string& answer);  // all pictures rejected

}  // namespace svc::streamer

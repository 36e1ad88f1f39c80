#pragma once
// Encoders of a GPU that this machine does not have: each is x264enc under the name and with the properties
// of one.
#include <string>

namespace svc::streamer {

// Registers an element in this process, once for each name. `opens`: whether its device can be opened, from
// now on. Does nothing where GStreamer has a real element of that name; then it returns false.
bool provide_fake_encoder(const std::string& name, bool opens);

}  // namespace svc::streamer

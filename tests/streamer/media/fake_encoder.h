#pragma once
// Encoders of a GPU that this machine does not have: each is x264enc under the name and with the properties
// of one.
#include <string>

namespace svc::streamer {

enum class FakeDevice { absent, of_high_profile, fits };  // the second one cannot make what clients decode

// Registers an element in this process, once for each name, and says which device it finds from now on. The
// element has no property "bframes", as that of a device without B-frames. Does nothing where GStreamer has a
// real element of that name; then it returns false.
bool provide_fake_encoder(const std::string& name, FakeDevice device);

}  // namespace svc::streamer

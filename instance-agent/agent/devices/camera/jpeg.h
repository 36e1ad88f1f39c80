#pragma once
// Reads JPEG pictures that come from outside. libjpeg-turbo stays inside jpeg.cpp.
#include <string_view>

#include "instance-agent/agent/devices/camera/picture.h"

namespace svc::agent {

// The whole picture. Throws invalid_argument: "Image data is empty", "Image is not a valid JPEG" (damaged,
// cut short, or of more scans than any camera or editor makes), "Image size <w>x<h> is not supported" for a
// size that the camera does not have, which is told before any memory is taken for it. Thread-safe; takes
// milliseconds, for hostile data a second.
Picture decode_jpeg(std::string_view data);

}  // namespace svc::agent

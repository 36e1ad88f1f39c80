#pragma once
// Decodes JPEG pictures from untrusted senders. Only jpeg.cpp includes libjpeg-turbo.
#include <string_view>

#include "instance-agent/agent/devices/camera/picture.h"

namespace svc::agent {

// The whole picture. Throws invalid_argument: "Image data is empty"; "Image is not a valid JPEG" (damaged,
// cut short, or with more scans than cameras and editors make); "Image size <w>x<h> is not supported" for a
// size that the camera does not have, before memory is allocated for it. Thread-safe. Takes milliseconds;
// hostile data can take a second.
Picture decode_jpeg(std::string_view data);

}  // namespace svc::agent

#pragma once
// Sends a file as the body of a response.
#include <filesystem>

#include "libsvc/net/http/response.h"

namespace svc::server {

// Opens the file. Throws not_found "<what> not found" when it is absent. Sends as many bytes as the file has
// now.
Response stream_file(const std::filesystem::path& path, std::string_view what, std::string content_type);

}  // namespace svc::server

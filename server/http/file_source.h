#pragma once
// A file as the body of a response.
#include <filesystem>

#include "libsvc/net/http/response.h"

namespace svc::server {

// Opens at once; throws not_found "<what> not found" for an absent file. The length is the file's at that
// moment.
Response stream_file(const std::filesystem::path& path, std::string_view what, std::string content_type);

}  // namespace svc::server

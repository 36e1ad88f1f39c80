#pragma once
// Files of a web page that are part of the program (server/web_files.py), and how they are sent.
#include <span>
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"

namespace svc::server {

// Views of literals: they live as long as the program.
struct WebFile {
    std::string_view path;  // "index.html", "lib/terminal.js"
    std::string_view content_type;
    std::string_view content;
    std::string_view coding;  // of `compressed`: "br", "gzip"; empty: it would not be shorter
    std::string_view compressed;
    std::string_view etag;  // with quotes
};

// The file, or 304 for a client that has it. `content_policy`: what the page may load and do.
Response web_file(const WebFile& file, const Request& request, std::string_view content_policy);

}  // namespace svc::server

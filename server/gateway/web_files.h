#pragma once
// The files of the page, put into the program when it is built (web_files.py).
#include <span>
#include <string_view>

namespace svc::gateway {

struct WebFile {
    std::string_view path;  // "index.html", "js/client.js"
    std::string_view content_type;
    std::string_view content;
    std::string_view etag;  // with quotes
};

// Lives as long as the program.
std::span<const WebFile> web_files();

}  // namespace svc::gateway

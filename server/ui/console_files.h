#pragma once
// The files of the console, put into the program when it is built (server/web_files.py).
#include "server/http/web_files.h"

namespace svc::server {

// "index.html", "lib/preact.js"; empty in a build without the console.
std::span<const WebFile> console_files();

}  // namespace svc::server

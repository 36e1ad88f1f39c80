#pragma once
// The files of the page, put into the program when it is built (server/web_files.py).
#include "server/http/web_files.h"

namespace svc::gateway {

std::span<const server::WebFile> web_files();

}  // namespace svc::gateway

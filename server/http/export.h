#pragma once
// Replies with an exported version of an application, or with its manifest.
#include <string>

#include "libsvc/net/http/response.h"
#include "libsvc/services/applications/application_service.h"

namespace svc::server {

// Sends the archive in pieces while it is made: it is never in memory as a whole.
Response send_export(ApplicationExport prepared);
Response send_manifest(std::string yaml);
// Content-Disposition of a download. `file_name` consists of names that were checked and need no quoting.
std::string attachment(const std::string& file_name);

}  // namespace svc::server

#pragma once
// What applications give back: exported versions as they are made, manifests.
#include <string>

#include "libsvc/net/http/response.h"
#include "libsvc/services/applications/application_service.h"

namespace svc::server {

// Sent in pieces: never whole in memory.
Response send_export(ApplicationExport prepared);
Response send_manifest(std::string yaml);
// Content-Disposition of a download. `file_name` is made of checked names: nothing in it needs quoting.
std::string attachment(const std::string& file_name);

}  // namespace svc::server

#pragma once
// Replies with an exported archive, or with the manifest of an application.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libsvc/net/http/response.h"
#include "libsvc/services/applications/application_service.h"

namespace svc::server {

// Sends the archive in pieces while it is made: it is never in memory as a whole. `size` in bytes; nothing:
// not known before it is made.
Response send_archive(std::unique_ptr<ArchiveStream> archive, std::optional<std::uint64_t> size,
                      const std::string& file_name);
Response send_export(ApplicationExport prepared);
Response send_manifest(std::string yaml);
// Content-Disposition of a download. `file_name` consists of names that were checked and need no quoting.
std::string attachment(const std::string& file_name);

}  // namespace svc::server

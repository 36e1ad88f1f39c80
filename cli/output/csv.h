#pragma once
// Comma-separated values (RFC 4180, lines end with \n).
#include <string>

#include "cli/output/document.h"

namespace svc::cli {

std::string render_csv(const Table& table);

}  // namespace svc::cli

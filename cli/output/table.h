#pragma once
// Tables with +---+ borders.
#include <string>

#include "cli/output/document.h"

namespace svc::cli {

std::string render_table(const Table& table);
std::size_t display_width(std::string_view text);  // in characters; UTF-8

}  // namespace svc::cli

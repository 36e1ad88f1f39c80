#pragma once
// Tables with +---+ borders, every column as wide as its widest line.
#include <string>

#include "cli/output/document.h"

namespace svc::cli {

std::string render_table(const Table& table);
// Breaks `text` at spaces into lines of at most `width` columns. A longer word has a line to itself.
std::string in_lines(std::string_view text, std::size_t width);

}  // namespace svc::cli

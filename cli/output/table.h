#pragma once
// Tables with +---+ borders.
#include <string>

#include "cli/output/document.h"

namespace svc::cli {

std::string render_table(const Table& table);
// A long text as a cell that is not: lines of at most `width` characters, unless a word is longer.
std::string in_lines(std::string_view text, std::size_t width);
std::size_t display_width(std::string_view text);  // in characters; UTF-8

}  // namespace svc::cli

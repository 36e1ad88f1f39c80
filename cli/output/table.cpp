#include "cli/output/table.h"

#include <algorithm>

#include "cli/output/terminal_text.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

std::vector<std::string> lines_of(const std::string& cell) {
    std::vector<std::string> lines = split(printable(cell), '\n');
    if (lines.empty()) lines.emplace_back();
    return lines;
}

std::string border(const std::vector<std::size_t>& widths) {
    std::string line = "+";
    for (const std::size_t width : widths) line += std::string(width + 2, '-') + "+";
    return line + "\n";
}

void add_row(std::string& out, const std::vector<std::string>& cells,
             const std::vector<std::size_t>& widths) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (const auto& cell : cells) {
        lines.push_back(lines_of(cell));
        height = std::max(height, lines.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
        out += "|";
        for (std::size_t column = 0; column < widths.size(); ++column) {
            const bool there = column < lines.size() && line < lines[column].size();
            const std::string text = there ? lines[column][line] : "";
            out += " " + text + std::string(widths[column] - display_width(text), ' ') + " |";
        }
        out += "\n";
    }
}

}  // namespace

std::string in_lines(std::string_view text, std::size_t width) {
    std::string lines;
    std::size_t used = 0;  // columns of the last line
    for (const std::string& word : split(text, ' ')) {
        const std::size_t needed = display_width(word);
        const bool fits = used + 1 + needed <= width;
        if (!lines.empty()) lines += fits ? ' ' : '\n';
        used = fits && !lines.empty() ? used + 1 + needed : needed;
        lines += word;
    }
    return lines;
}

std::string render_table(const Table& table) {
    std::vector<std::size_t> widths;
    for (const auto& column : table.columns) widths.push_back(display_width(column));
    for (const auto& row : table.rows)
        for (std::size_t column = 0; column < row.size() && column < widths.size(); ++column)
            for (const auto& line : lines_of(row[column]))
                widths[column] = std::max(widths[column], display_width(line));
    std::string out = border(widths);
    add_row(out, table.columns, widths);
    out += border(widths);
    for (const auto& row : table.rows) add_row(out, row, widths);
    if (!table.rows.empty()) out += border(widths);
    return out;
}

}  // namespace svc::cli

#include "cli/output/csv.h"

namespace svc::cli {
namespace {

std::string cell_text(const std::string& cell) {
    if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
    std::string quoted_cell = "\"";
    for (const char c : cell) {
        if (c == '"') quoted_cell += '"';
        quoted_cell += c;
    }
    return quoted_cell + "\"";
}

void add_line(std::string& out, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + cell_text(cells[i]);
    out += "\n";
}

}  // namespace

std::string render_csv(const Table& table) {
    std::string out;
    add_line(out, table.columns);
    for (const auto& row : table.rows) add_line(out, row);
    return out;
}

}  // namespace svc::cli

#pragma once
// The output of a list or show command, independent of its format.
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/command.h"
#include "libsvc/base/json.h"

namespace svc::cli {

struct Table {
    std::vector<std::string> columns;            // "ID", in upper case
    std::vector<std::vector<std::string>> rows;  // a cell per column; a cell may have several lines
};

// The same content twice: a value for json and yaml, rows for table and csv.
struct Document {
    Json value;
    Table table;
};

enum class Format { table, json, yaml, csv };

Flag format_flag(std::string_view initial);  // -o/--format
Format format_of(const Arguments& arguments);
std::string render(const Document& document, Format format);

// One object as a document. Its table has a row for each leaf value: "network.address".
Document describe(Json object);

}  // namespace svc::cli

#pragma once
// What a list or show command prints, before anybody decided how.
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/command.h"
#include "libsvc/base/json.h"

namespace svc::cli {

struct Table {
    std::vector<std::string> columns;            // "ID", in upper case
    std::vector<std::vector<std::string>> rows;  // a cell per column; line ends in cells make it taller
};

// The same thing twice: as a value for json and yaml, as rows for table and csv.
struct Document {
    Json value;
    Table table;
};

enum class Format { table, json, yaml, csv };

Flag format_flag(std::string_view initial);  // -o/--format
Format format_of(const Arguments& arguments);
std::string render(const Document& document, Format format);

// One object as a document; its table has a row per leaf: "network.address".
Document describe(Json object);

}  // namespace svc::cli

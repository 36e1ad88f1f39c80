#include "cli/output/document.h"

#include "cli/output/csv.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/output/yaml.h"

namespace svc::cli {
namespace {

std::string leaf_text(const Json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? value.as_string() : value.dump();
}

bool is_leaf(const Json& value) {
    if (value.is_object()) return value.as_object().empty();
    return !value.is_array() || value.as_array().empty();
}

void add_leaves(const std::string& name, const Json& value, Table& table) {
    if (is_leaf(value)) {
        const bool empty = value.is_object() || value.is_array();
        table.rows.push_back({name, empty ? "" : leaf_text(value)});
        return;
    }
    const std::string prefix = name.empty() ? "" : name + ".";
    std::size_t index = 0;
    if (value.is_array())
        for (const Json& item : value.as_array()) add_leaves(prefix + std::to_string(index++), item, table);
    else
        for (const auto& [key, member] : value.as_object()) add_leaves(prefix + key, member, table);
}

}  // namespace

Flag format_flag(std::string_view initial) {
    return {"format",
            'o',
            "FORMAT",
            "table, json, yaml or csv",
            std::string(initial),
            {"table", "json", "yaml", "csv"}};
}

Format format_of(const Arguments& arguments) {
    const std::string text = arguments.text("format");
    if (text == "json") return Format::json;
    if (text == "yaml") return Format::yaml;
    return text == "csv" ? Format::csv : Format::table;
}

std::string render(const Document& document, Format format) {
    switch (format) {
        case Format::table:
            return render_table(document.table);
        case Format::json:
            return render_json(document.value);
        case Format::yaml:
            return render_yaml(document.value);
        case Format::csv:
            return render_csv(document.table);
    }
    return "";
}

Document describe(Json object) {
    Table table{{"FIELD", "VALUE"}, {}};
    add_leaves("", object, table);
    return {std::move(object), std::move(table)};
}

}  // namespace svc::cli

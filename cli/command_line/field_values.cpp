#include "cli/command_line/field_values.h"

#include "cli/command_line/command.h"
#include "libsvc/base/strings.h"

namespace svc::cli {

Json list_value(const std::string& text) {
    Json list = Json::array();
    for (const std::string& item : split(text, ','))
        if (!item.empty()) list.push_back(item);
    return list;
}

Json boolean_value(std::string_view field, const std::string& text) {
    if (text != "true" && text != "false") throw UsageError(std::string(field) + ": expected true or false");
    return text == "true";
}

}  // namespace svc::cli

#pragma once
// The table of configuration keys: name, what it means, how its value is read. The command line's flags are
// the same keys with `-` for `_`.
#include <span>
#include <string_view>

#include "libsvc/base/json.h"
#include "server/options.h"

namespace svc::server {

struct Setting {
    std::string_view key;
    std::string_view value_name;  // set: it is a flag, too, and this stands for its value in the help text
    std::string_view help;
    void (*apply)(Options& options, std::string_view key, const Json& value);  // throws invalid_argument
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view key);  // null pointer: no such key

}  // namespace svc::server

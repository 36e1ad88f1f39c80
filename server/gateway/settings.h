#pragma once
// The table of configuration keys: how each value is read. Flags are the same keys with `-` for `_`.
#include <span>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "server/gateway/options.h"

namespace svc::gateway {

struct Setting {
    std::string_view key;
    std::string_view value_name;  // set: it is a flag, too, and this stands for its value in the help text
    std::string_view help;
    // Throws Fault or invalid_argument.
    void (*apply)(Options& options, std::string_view key, const Json& value);
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view key);  // null pointer: no such key

// A fault below a top-level key: which value it is about.
struct Fault {
    std::string path;  // "regions[1].url"
    std::string message;
};

}  // namespace svc::gateway

#pragma once
// An input as a script: a step a line, the first character says which, the rest is its argument.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace svc::fuzz {

template <class Step>
void for_each_step(const std::uint8_t* data, std::size_t size, Step&& step) {
    std::string_view script(reinterpret_cast<const char*>(data), size);
    while (!script.empty()) {
        const auto line = script.substr(0, script.find('\n'));
        script.remove_prefix(std::min(line.size() + 1, script.size()));
        if (!line.empty()) step(line.front(), std::string(line.substr(1)));
    }
}

}  // namespace svc::fuzz

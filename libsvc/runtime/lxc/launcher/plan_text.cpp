#include "libsvc/runtime/lxc/launcher/plan_text.h"

#include <charconv>

#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

[[noreturn]] void refuse(std::string_view what, std::string_view value) {
    throw LaunchFailure("configuration: " + std::string(what) + " '" + std::string(value) + "'");
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) refuse("no number:", text);
    return value;
}

unsigned small_number(std::string_view text, std::uint64_t most) {
    const std::uint64_t value = number(text);
    if (value > most) refuse("too large:", text);
    return static_cast<unsigned>(value);
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) result.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

// The fields of a mount entry have blanks as in fstab.
std::string unescaped(std::string_view field) {
    std::string text;
    for (; !field.empty(); field.remove_prefix(1)) {
        const std::string_view code = field.substr(0, 4);
        if (code == "\\040" || code == "\\011" || code == "\\134") {
            text += code == "\\040" ? ' ' : code == "\\011" ? '\t' : '\\';
            field.remove_prefix(3);
        } else {
            text += field.front();
        }
    }
    return text;
}

std::uint64_t size_of(std::string_view text) {
    if (!text.ends_with("MB")) refuse("unknown size", text);
    return number(text.substr(0, text.size() - 2)) << 20U;
}

}  // namespace svc::lxc

#include "instance-agent/agent/ctl/ctl_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

template <class Number>
bool read_whole(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CtlWords::CtlWords(const std::vector<std::string>& words, const std::vector<std::string_view>& flags) {
    bool verbatim = false;
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (verbatim || !word->starts_with("--")) {
            plain_.push_back(*word);
        } else if (*word == "--") {
            verbatim = true;
        } else {
            const auto sign = word->find('=');
            const std::string name = word->substr(2, sign == std::string::npos ? sign : sign - 2);
            if (std::find(flags.begin(), flags.end(), name) == flags.end())
                throw CtlUsageError("unknown flag " + quoted("--" + name));
            if (sign == std::string::npos && ++word == words.end())
                throw CtlUsageError("flag --" + name + " needs a value");
            if (!flags_.emplace(name, sign == std::string::npos ? *word : word->substr(sign + 1)).second)
                throw CtlUsageError("flag --" + name + " is given more than once");
        }
    }
}

std::optional<std::string> CtlWords::flag(std::string_view name) const {
    const auto found = flags_.find(name);
    if (found == flags_.end()) return std::nullopt;
    return found->second;
}

std::optional<double> CtlWords::number(std::string_view name) const {
    const auto text = flag(name);
    if (!text) return std::nullopt;
    return parse_ctl_number(*text);
}

double parse_ctl_number(std::string_view text) {
    double number = 0;
    if (!read_whole(text, number) || !std::isfinite(number))
        throw CtlUsageError(quoted(text) + " is not a number");
    return number;
}

std::int64_t parse_ctl_integer(std::string_view text) {
    std::int64_t number = 0;
    if (!read_whole(text, number)) throw CtlUsageError(quoted(text) + " is not a whole number");
    return number;
}

}  // namespace svc::agent

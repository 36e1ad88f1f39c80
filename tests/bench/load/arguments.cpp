#include "tests/bench/load/arguments.h"

#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::bench {

namespace {

unsigned to_number(const std::string& name, const std::string& text) {
    unsigned value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument, "--" + name + " must be a number");
    return value;
}

}  // namespace

Arguments::Arguments(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!words[i].starts_with("--"))
            throw Error(ErrorCode::invalid_argument, "argument " + quoted(words[i]) + " is not understood");
        const bool valued = i + 1 < words.size() && !words[i + 1].starts_with("--");
        values_[words[i].substr(2)] = valued ? words[i + 1] : "";
        i += valued ? 1 : 0;
    }
}

std::string Arguments::text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw Error(ErrorCode::invalid_argument, "--" + name + " is required");
    return found->second;
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
    return has(name) ? text(name) : otherwise;
}

unsigned Arguments::number(const std::string& name, unsigned otherwise) const {
    return has(name) ? to_number(name, text(name)) : otherwise;
}

std::vector<unsigned> Arguments::numbers(const std::string& name, const std::string& otherwise) const {
    std::vector<unsigned> numbers;
    for (const std::string& part : split(text(name, otherwise), ','))
        numbers.push_back(to_number(name, part));
    return numbers;
}

}  // namespace svc::bench

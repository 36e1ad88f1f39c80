#include "cli/command_line/command.h"

#include <charconv>
#include <stdexcept>

#include "libsvc/base/strings.h"

namespace svc::cli {

void Arguments::declare(const std::string& name, std::string initial) {
    values_[name].initial = std::move(initial);
}

void Arguments::give(const std::string& name, std::string value) {
    values_.at(name).given.push_back(std::move(value));
}

const Arguments::Value& Arguments::find(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::logic_error("undeclared argument " + std::string(name));
    return found->second;
}

bool Arguments::given(std::string_view name) const {
    return !find(name).given.empty();
}

std::string Arguments::text(std::string_view name) const {
    const Value& value = find(name);
    return value.given.empty() ? value.initial : value.given.back();
}

const std::vector<std::string>& Arguments::list(std::string_view name) const {
    return find(name).given;
}

std::vector<std::string> Arguments::comma_list(std::string_view name) const {
    std::vector<std::string> parts;
    for (const auto& value : list(name))
        for (const auto& part : split(value, ','))
            if (!trim(part).empty()) parts.emplace_back(trim(part));
    return parts;
}

std::optional<std::int64_t> Arguments::integer(std::string_view name) const {
    return parsed<std::int64_t>(name, "a whole number");
}

std::optional<double> Arguments::number(std::string_view name) const {
    return parsed<double>(name, "a number");
}

template <class Number>
std::optional<Number> Arguments::parsed(std::string_view name, std::string_view kind) const {
    const std::string value = text(name);
    if (value.empty() && !given(name)) return std::nullopt;
    Number number{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
        throw UsageError("--" + std::string(name) + ": " + quoted(value) + " is not " + std::string(kind));
    return number;
}

}  // namespace svc::cli

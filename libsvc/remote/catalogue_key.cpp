#include "libsvc/remote/catalogue_key.h"

#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc {

void check_catalogue_name(std::string_view name) {
    check_application_name("name", name);
    if (name.front() == '.') throw_invalid("name", "must not begin with a dot in a registry");
}

void check_catalogue_architecture(std::string_view architecture) {
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    if (architecture.empty() || architecture.size() > 32 ||
        !std::all_of(architecture.begin(), architecture.end(), allowed))
        throw_invalid("architecture", "only lower-case letters, digits and _ are allowed");
}

int parse_version_number(std::string_view text) {
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 ||
        std::to_string(number) != text)
        throw Error(ErrorCode::invalid_argument, "version " + quoted(text) + " is not a number");
    return number;
}

CatalogueKey::CatalogueKey(std::string_view name, int version, std::string_view architecture)
    : name(name), version(version), architecture(architecture) {
    check_catalogue_name(name);
    check_catalogue_architecture(architecture);
    if (version < 0) throw_invalid("version", "must not be negative");
}

std::string CatalogueKey::version_path() const {
    return name + "/" + std::to_string(version);
}

std::string CatalogueKey::path() const {
    return version_path() + "/" + architecture;
}

}  // namespace svc

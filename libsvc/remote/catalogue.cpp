#include "libsvc/remote/catalogue.h"

#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"
#include "libsvc/remote/catalogue_key.h"
#include "libsvc/remote/directory_catalogue.h"
#include "libsvc/remote/https_catalogue.h"

namespace svc {

namespace {

constexpr std::size_t catalogue_max_versions = 10'000, catalogue_max_architectures = 16, max_tags = 1000;
constexpr std::size_t max_text = 512;

std::string short_text(const JsonFields& fields, std::string_view key) {
    std::string text = fields.string(key).value_or("");
    if (text.size() > max_text || has_control_characters(text))
        throw_invalid(fields.path_of(key), "is too long or has control characters");
    return text;
}

std::vector<std::string> short_list(const JsonFields& fields, std::string_view key, std::size_t at_most) {
    auto list = fields.strings(key).value_or(std::vector<std::string>());
    if (list.size() > at_most) throw_invalid(fields.path_of(key), "has too many items");
    return list;
}

std::vector<CatalogueVersion> read_versions(const JsonFields& fields) {
    std::vector<CatalogueVersion> versions;
    const Json* const given = fields.raw("versions");
    if (given == nullptr) return versions;
    const JsonFields object(*given, fields.path_of("versions"));
    if (given->as_object().size() > catalogue_max_versions)
        throw_invalid(fields.path_of("versions"), "has too many items");
    for (const auto& [number, details] : given->as_object()) {
        if (!details.is_object()) throw_invalid(object.path_of(number), "must be an object");
        versions.push_back({parse_version_number(number), details});
    }
    std::sort(versions.begin(), versions.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return versions;
}

}  // namespace

Json CatalogueApplication::to_json() const {
    Json by_number = Json::object();
    for (const auto& version : versions) by_number.set(std::to_string(version.number), version.details);
    const auto list = [](const std::vector<std::string>& texts) {
        return Json::array(JsonArray(texts.begin(), texts.end()));
    };
    return Json::object({{"name", name},
                         {"architectures", list(architectures)},
                         {"boot_package", boot_package},
                         {"instance_type", instance_type},
                         {"tags", list(tags)},
                         {"versions", std::move(by_number)},
                         {"vm", false}});
}

CatalogueApplication CatalogueApplication::from_json(const Json& value) {
    const JsonFields fields(value);
    CatalogueApplication application;
    application.name = fields.require_string("name");
    check_catalogue_name(application.name);
    application.architectures = short_list(fields, "architectures", catalogue_max_architectures);
    for (const auto& architecture : application.architectures) check_catalogue_architecture(architecture);
    application.tags = short_list(fields, "tags", max_tags);
    for (const auto& tag : application.tags) check_tag("tags", tag);
    application.boot_package = short_text(fields, "boot_package");
    application.instance_type = short_text(fields, "instance_type");
    application.versions = read_versions(fields);
    return application;
}

std::unique_ptr<Catalogue> open_catalogue(const CatalogueOptions& options) {
    if (options.url.starts_with("file:///"))
        return std::make_unique<DirectoryCatalogue>(options.url.substr(7));
    if (options.url.starts_with("https://")) return std::make_unique<HttpsCatalogue>(options);
    throw Error(ErrorCode::invalid_argument, "registry.url must begin with https:// or file:///");
}

}  // namespace svc

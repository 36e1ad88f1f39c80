#include "libsvc/services/registry/catalogue_versions.h"

#include <algorithm>

namespace svc {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

Json to_array(const std::vector<std::string>& texts) {
    return Json::array(JsonArray(texts.begin(), texts.end()));
}

}  // namespace

std::vector<int> versions_to_publish(const Application& application) {
    std::vector<int> numbers;
    for (const auto& version : application.versions)
        if (version.published && version.status == ImageStatus::active) numbers.push_back(version.number);
    return numbers;
}

CatalogueApplication catalogue_record(const Application& application, const ApplicationVersion& version) {
    const ApplicationManifest& manifest = version.manifest;
    CatalogueApplication record;
    record.name = application.name;
    record.architectures = {version.architecture};
    record.tags = application.tags;
    record.boot_package = manifest.boot_package;
    record.instance_type = application.instance_type;
    record.versions.push_back(
        {version.number, Json::object({{"boot_activity", manifest.boot_activity},
                                       {"features", to_array(manifest.features)},
                                       {"hooks", Json::object({{"timeout", manifest.hook_timeout}})},
                                       {"bootstrap", Json::object({{"keep", to_array(manifest.keep)}})},
                                       {"video_encoder", to_text(manifest.video_encoder)}})});
    return record;
}

bool passes_filter(const std::vector<std::string>& tags, const std::vector<std::string>& wanted) {
    return wanted.empty() || std::any_of(tags.begin(), tags.end(),
                                         [&](const std::string& tag) { return contains(wanted, tag); });
}

std::vector<int> versions_to_pull(const CatalogueApplication& offered, const Application* local,
                                  std::string_view architecture, std::size_t at_most) {
    std::vector<int> numbers;
    if (!contains(offered.architectures, architecture)) return numbers;
    const auto& versions = offered.versions;
    for (std::size_t i = versions.size() - std::min(versions.size(), at_most); i < versions.size(); ++i)
        if (local == nullptr || local->version(versions[i].number) == nullptr)
            numbers.push_back(versions[i].number);
    return numbers;
}

std::vector<int> versions_of(const Json& work) {
    std::vector<int> versions;
    if (const Json* const listed = work.find("versions"))
        for (const Json& version : listed->as_array()) versions.push_back(static_cast<int>(version.as_int()));
    return versions;
}

bool covers(const Json& work, const Json& wanted) {
    for (const char* key : {"name", "application", "url"}) {
        const Json* const has = work.find(key);
        const Json* const wants = wanted.find(key);
        if (has == nullptr ? wants != nullptr : wants == nullptr || !(*has == *wants)) return false;
    }
    const std::vector<int> brought = versions_of(work);
    const std::vector<int> asked = versions_of(wanted);
    return std::includes(brought.begin(), brought.end(), asked.begin(), asked.end());
}

}  // namespace svc

#pragma once
// The rules that manifests and PATCH requests of applications share (docs/management.md,
// "Packages and manifests"). All throw invalid_argument naming key, value and rule: "argument
// watchdog.allowed-packages[1] is invalid: 'x y' is not a package name".
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/model/packages/manifest.h"

namespace svc::rules {

// `path` with "[index]" behind it.
std::string item_path(const std::string& path, std::size_t index);
[[noreturn]] void refuse(std::string_view path, std::string_view value, std::string_view rule);

void check_version_text(const std::string& path, const std::string& text);  // at most 50 characters
void check_instance_type(const std::string& path, const std::string& name);
void check_image_reference(const std::string& path, const std::string& id_or_name);
void check_abi(const std::string& path, const std::string& abi);
void check_tags(const std::string& path, const std::vector<std::string>& tags);
void check_addons(const std::string& path, const std::vector<std::string>& addons);
void check_permissions(const std::string& path, const std::vector<std::string>& permissions);
void check_features(const std::string& path, const std::vector<std::string>& features);
void check_keep(const std::string& path, const std::vector<std::string>& patterns);
void check_command(const std::string& path, const std::string& command);  // one line for a shell
std::vector<ServiceEntry> read_services(const std::vector<JsonFields>& entries);
std::map<std::string, ExtraData> read_extra_data(const JsonFields& fields, const std::string& boot_package);

Json strings_json(const std::vector<std::string>& items);
Json strings_or_null(const std::vector<std::string>& items);    // null when empty
Json services_json(const std::vector<ServiceEntry>& services);  // as manifests write them: without node ports
Json extra_data_json(const std::map<std::string, ExtraData>& items);

}  // namespace svc::rules

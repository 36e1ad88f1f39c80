#pragma once
// Which names objects may have. Every name from a client is checked here. All throw invalid_argument naming
// `field`.
#include <string>
#include <string_view>
#include <vector>

namespace svc {

void check_image_name(std::string_view field,
                      std::string_view name);  // ^[A-Za-z0-9_\-.:]+$, 1..128, not like an id
// ^[A-Za-z0-9_\-.]+$, 1..128, not like an id. Addons have the same names as applications.
void check_application_name(std::string_view field, std::string_view name);
void check_addon_name(std::string_view field, std::string_view name);
void check_node_name(std::string_view field,
                     std::string_view name);  // ^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$
// ^[a-zA-Z0-9][a-zA-Z0-9-]{1,61}[a-zA-Z0-9]$, neither like an id nor like the name that an id gives
void check_instance_name(std::string_view field, std::string_view name);
void check_service_name(std::string_view field, std::string_view name);  // "" or ^[a-z0-9][a-z0-9-]{0,62}$
void check_account_name(std::string_view field, std::string_view name);  // ^[a-z0-9][a-z0-9-]{0,62}$
void check_boot_package(std::string_view field, std::string_view name);
void check_boot_activity(std::string_view field, std::string_view name);
void check_tag(std::string_view field,
               std::string_view tag);  // not empty, no comma, no control characters, at most 256
void check_list_size(std::string_view field, std::size_t size);  // at most 1000 names, tags and the like

bool is_package_name(std::string_view text);   // com.example.app
bool is_activity_name(std::string_view text);  // com.example.app.Main or .Main
bool is_abi(std::string_view text);
std::vector<std::string> abi_names();  // x86, x86_64, armeabi, armeabi-v7a, arm64-v8a
bool has_control_characters(std::string_view text);

}  // namespace svc

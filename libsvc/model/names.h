#pragma once
// Which names objects may have; every name from outside passes here. All throw invalid_argument naming `field`.
#include <string_view>

namespace svc {

void check_image_name(std::string_view field, std::string_view name);    // ^[A-Za-z0-9_\-.:]+$, 1..128, not like an id
void check_service_name(std::string_view field, std::string_view name);  // "" or ^[a-z0-9][a-z0-9-]{0,62}$
void check_boot_package(std::string_view field, std::string_view name);
void check_boot_activity(std::string_view field, std::string_view name);
void check_tag(std::string_view field, std::string_view tag);  // not empty, no comma, no control characters, at most 256

}  // namespace svc

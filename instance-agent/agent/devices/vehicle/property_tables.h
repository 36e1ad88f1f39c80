#pragma once
// The texts behind property_names.h.
#include <string_view>

namespace svc::agent {

extern const std::string_view property_table;  // rows "NAME id access mode"; r, w, rw; s, o, c
extern const std::string_view constant_table;  // rows "Type NAME=value NAME=value ..."

}  // namespace svc::agent

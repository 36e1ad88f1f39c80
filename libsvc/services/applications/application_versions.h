#pragma once
// What the record of an application says about its versions. Pure functions.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/packages/application.h"
#include "libsvc/services/common/content.h"

namespace svc {

std::string layer_name(const std::string& application, int version);  // the layer that its bootstrap makes
bool is_initializing(const Application& application);                 // any version
const ApplicationVersion& newest_of(const Application& application);  // throws internal when there is none
const ApplicationVersion& version_of(const Application& application, int n);  // throws not_found
const PackageRef* own_package(const ApplicationVersion& version);  // its own package; null when imported
std::vector<const PackageRef*> addons_of(const ApplicationVersion& version);
// Every package and layer that a version refers to, and may come to refer to while it is being made.
ContentReferences content_of(const Application& application, const ApplicationVersion& version);

[[noreturn]] void throw_deleting();                          // busy "deletion already in progress"
[[noreturn]] void throw_not_allowed(std::string_view what);  // forbidden "<what> not allowed"

}  // namespace svc

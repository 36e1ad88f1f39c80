#pragma once
// The fields of an application that a package or a PATCH sets without making a version. Pure functions.
#include <cstdint>
#include <string>

#include "libsvc/model/packages/application.h"
#include "libsvc/model/packages/manifest.h"

namespace svc {

void check_instance_type(const std::string& type);  // throws invalid_argument; "" is the default type
// The settings of a new application. Throws invalid_argument.
void set_settings(Application& application, const ApplicationManifest& manifest);
// Applies the settings in which `now` differs from `before`; keeps the others: a PATCH may have changed them.
void take_settings(Application& application, const ApplicationManifest& before,
                   const ApplicationManifest& now);
// Throws invalid_argument for one that is larger than `most`.
void check_pool(const PoolSettings& pool, int most);
void patch_settings(Application& application, const ApplicationPatch& patch);  // throws invalid_argument
// The disk size that the application asks for itself must hold the image. Throws invalid_argument.
void check_disk(const Application& application, std::uint64_t root_bytes);

}  // namespace svc

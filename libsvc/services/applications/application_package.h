#pragma once
// Reading an application package when it arrives.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/packages/manifest.h"

namespace svc {

struct ApplicationPackage {
    ApplicationManifest manifest;
    std::vector<std::string> hooks;  // their names
    bool has_apk = false;
};

// Reads the whole package and checks it: manifest.yaml, hooks executable, app.apk a file, every entry of
// `extra-data` there. Throws invalid_argument.
ApplicationPackage read_application_package(const std::filesystem::path& package);

// The ABI whose programs a machine runs best: "x86_64" -> "x86_64", "aarch64" -> "arm64-v8a", "" for others.
std::string native_abi(std::string_view architecture);
// Whether a machine runs programs of that ABI, by itself or with what addons provide.
bool runs_abi(std::string_view architecture, const std::vector<std::string>& provided, std::string_view abi);

}  // namespace svc

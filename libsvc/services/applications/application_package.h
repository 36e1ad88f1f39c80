#pragma once
// Reading an application package when it arrives.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/formats/apk.h"
#include "libsvc/model/packages/manifest.h"

namespace svc {

struct ApplicationPackage {
    ApplicationManifest manifest;
    std::vector<std::string> hooks;     // their names
    std::vector<std::string> apk_abis;  // of the native code in app.apk
    std::vector<std::string> notes;     // for the version: an app.apk that could not be read, and why
};

// Reads the whole package and checks it: manifest.yaml, hooks executable, app.apk a file, every entry of
// `extra-data` there. Where there is an app.apk, the manifest gets what `apks` reads of it; that it cannot be
// read is noted. Throws invalid_argument.
ApplicationPackage read_application_package(const std::filesystem::path& package, const ApkReader& apks);

// The ABI whose programs a machine runs best: "x86_64" -> "x86_64", "aarch64" -> "arm64-v8a", "" for others.
std::string native_abi(std::string_view architecture);
// Whether a machine runs programs of that ABI, by itself or with what addons provide.
bool runs_abi(std::string_view architecture, const std::vector<std::string>& provided, std::string_view abi);

}  // namespace svc

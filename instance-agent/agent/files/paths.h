#pragma once
// The places of all files that the agent uses inside the instance. Tests put them below a temporary
// directory.
#include <filesystem>

#include "libsvc/model/packages/package_ref.h"

namespace svc::agent {

struct Paths {
    std::filesystem::path data = "/var/lib/svc-agent";
    std::filesystem::path guest = "/";     // root of the guest's file system
    std::filesystem::path proc = "/proc";  // procfs, read for the first process

    std::filesystem::path app() const { return data / "app"; }
    std::filesystem::path addons() const { return data / "addons"; }
    std::filesystem::path logs() const { return data / "logs"; }
    std::filesystem::path downloads() const {
        return data / "downloads";
    }                                                                   // packages until they are unpacked
    std::filesystem::path fetched() const { return data / "fetched"; }  // the digest of each unpacked package
    std::string user_data() const;  // of the launch; "" where it cannot be read
    std::filesystem::path progress() const { return data / "progress.json"; }
    std::filesystem::path state() const {
        return data / "state";
    }  // settings that survive a restart of the agent
    // The place of a file that the guest calls by this absolute path.
    std::filesystem::path in_guest(const std::filesystem::path& file) const {
        return guest / file.relative_path();
    }
    // Where the package is unpacked. Throws invalid_argument when its name cannot be the name of a folder.
    std::filesystem::path directory_of(const PackageRef& package) const;
};

// "addon ssh", "application game".
std::string describe(const PackageRef& package);

}  // namespace svc::agent

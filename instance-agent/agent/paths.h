#pragma once
// Where everything lies inside the instance. Tests put it all below a temporary directory.
#include <filesystem>

#include "libsvc/model/packages/package_ref.h"

namespace svc::agent {

struct Paths {
    std::filesystem::path data = "/var/lib/svc-agent";
    std::filesystem::path guest = "/";     // root of the guest
    std::filesystem::path proc = "/proc";  // what tells about the first process

    std::filesystem::path app() const { return data / "app"; }
    std::filesystem::path addons() const { return data / "addons"; }
    std::filesystem::path logs() const { return data / "logs"; }
    std::filesystem::path downloads() const { return data / "downloads"; }  // until they are unpacked
    std::filesystem::path fetched() const { return data / "fetched"; }      // which package lies unpacked
    std::filesystem::path progress() const { return data / "progress.json"; }
    std::filesystem::path state() const { return data / "state"; }  // what a restarted agent finds again
    // A file of the guest by its absolute name.
    std::filesystem::path in_guest(const std::filesystem::path& file) const {
        return guest / file.relative_path();
    }
    // The unpacked package. Throws invalid_argument for a name that is no file's name.
    std::filesystem::path directory_of(const PackageRef& package) const;
};

// "addon ssh", "application game".
std::string describe(const PackageRef& package);

}  // namespace svc::agent

#include "instance-agent/agent/files/paths.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

std::filesystem::path Paths::directory_of(const PackageRef& package) const {
    if (package.is_application) return app();
    const bool strange = package.name.empty() || package.name == "." || package.name == ".." ||
                         package.name.find('/') != std::string::npos;
    if (strange)
        throw Error(ErrorCode::invalid_argument, "name of addon " + quoted(package.name) + " is invalid");
    return addons() / package.name;
}

std::string Paths::user_data() const try {
    const auto file = data / "userdata";
    return std::filesystem::is_regular_file(file) ? read_file(file) : "";
} catch (const std::exception&) {
    return "";
}

std::string describe(const PackageRef& package) {
    return (package.is_application ? "application " : "addon ") + package.name;
}

}  // namespace svc::agent

#include "server/programs.h"

#include <unistd.h>

#include "libsvc/base/error.h"

namespace svc::server {

namespace fs = std::filesystem;

namespace {

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

fs::path find_program(std::string_view name, const fs::path& configured, std::string_view build_folder,
                      std::string_view key, Missing missing) {
    if (!configured.empty()) {
        if (is_program(configured)) return fs::absolute(configured);
        throw Error(ErrorCode::invalid_argument,
                    std::string(key) + ": " + configured.string() + " is no program");
    }
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& folder : {here, here / ".." / "libexec" / "svc", here / ".." / build_folder})
        if (is_program(folder / name)) return fs::canonical(folder / name);
    if (missing == Missing::allowed) return {};
    throw Error(ErrorCode::invalid_argument,
                "program " + std::string(name) + " was not found beside svcd; set " + std::string(key));
}

}  // namespace svc::server

#include "instance-agent/agent/files/guest_programs.h"

#include <unistd.h>

#include "libsvc/base/strings.h"

namespace svc::agent {

std::filesystem::path find_program(const Paths& paths, const std::string& name) {
    for (const std::string& directory : split(program_path, ':')) {
        auto file = paths.in_guest(directory) / name;
        if (::access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

std::string shell_of(const Paths& paths) {
    const auto found = find_program(paths, "sh");
    return found.empty() ? "/bin/sh" : found.string();
}

}  // namespace svc::agent

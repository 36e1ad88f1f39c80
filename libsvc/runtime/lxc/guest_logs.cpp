#include "libsvc/runtime/lxc/guest_logs.h"

#include <sys/stat.h>

#include <array>
#include <string_view>

namespace svc::lxc {

namespace {

struct Source {
    const char* name;
    std::string_view path;  // below the writable layer
};
constexpr std::array<Source, 3> sources{{{"system.log", "var/lib/svc-agent/logs/agent.log"},
                                         {"system.log", "var/lib/svc-agent/logs/hooks.log"},
                                         {"android.log", "var/lib/svc-agent/data/logs/android.log"}}};

bool is_plain(const std::filesystem::path& root, const std::filesystem::path& below) {
    std::filesystem::path path = root;
    struct stat status {};
    for (const auto& part : below) {
        path /= part;
        if (lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode)) return false;
    }
    return S_ISREG(status.st_mode) && status.st_size > 0;
}

}  // namespace

std::vector<LogFile> guest_logs(const std::filesystem::path& upper) {
    std::vector<LogFile> logs;
    for (const Source& source : sources)
        if (is_plain(upper, source.path)) logs.push_back({source.name, upper / source.path});
    return logs;
}

}  // namespace svc::lxc

#include "libsvc/runtime/lxc/host/kernel_setting.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "libsvc/base/log.h"

namespace svc::lxc {

bool set_kernel_setting(std::string_view name, std::string_view value, std::string_view without,
                        const std::filesystem::path& settings) {
    std::string path(name);
    std::replace(path.begin(), path.end(), '.', '/');
    std::string present;
    std::ifstream(settings / path) >> present;
    if (present == value) return true;
    std::ofstream file(settings / path);
    file << value << '\n' << std::flush;
    if (!file)
        log::warning("setting of the kernel cannot be changed", {{"setting", std::string(name)},
                                                                 {"wanted", std::string(value)},
                                                                 {"without", std::string(without)}});
    return static_cast<bool>(file);
}

}  // namespace svc::lxc

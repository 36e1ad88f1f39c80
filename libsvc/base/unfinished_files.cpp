#include "libsvc/base/unfinished_files.h"

#include <algorithm>
#include <string>

#include "libsvc/base/log.h"

namespace svc {

namespace {

// ".NAME.XXXXXX", of which mkostemp() has chosen the end.
bool is_unfinished(const std::string& name) {
    constexpr std::size_t chosen = 6;
    if (name.size() < chosen + 3 || name.front() != '.' || name[name.size() - chosen - 1] != '.')
        return false;
    return std::all_of(name.end() - chosen, name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace

void remove_unfinished_files(const std::filesystem::path& folder) {
    std::error_code failure;
    for (auto entry = std::filesystem::directory_iterator(folder, failure);
         !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
        std::error_code failed;
        if (!is_unfinished(entry->path().filename().native()) || !entry->is_regular_file(failed)) continue;
        if (!std::filesystem::remove(entry->path(), failed))
            log::warning("unfinished file cannot be removed",
                         {{"path", entry->path().native()}, {"error", failed.message()}});
    }
}

}  // namespace svc

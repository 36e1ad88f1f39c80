#include "server/state/quarantine.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "libsvc/base/clock.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"

namespace svc::server::state {

Quarantine::Quarantine(const std::filesystem::path& root)
    : folder_(root / "quarantine" / (to_rfc3339(SystemClock().now()) + "-" + to_hex(random_bytes(2)))) {}

std::filesystem::path Quarantine::place(const std::filesystem::path& as) {
    const std::filesystem::path target = folder_ / as;
    make_directories(target.parent_path());
    for (auto folder = target.parent_path(); folder != folder_.parent_path().parent_path();
         folder = folder.parent_path())
        sync_directory(folder);
    sync_directory(folder_.parent_path().parent_path());
    return target;
}

void Quarantine::move(const std::filesystem::path& file, const std::filesystem::path& as) {
    if (!is_there(file)) return;
    const auto target = place(as);
    if (std::rename(file.c_str(), target.c_str()) != 0)
        throw system_error("cannot move " + file.filename().string() + " to the quarantine", errno);
    sync_directory(target.parent_path());
    sync_directory(file.parent_path());
}

void Quarantine::keep(const std::filesystem::path& file, const std::filesystem::path& as) {
    if (!is_there(file)) return;
    const auto target = place(as);
    if (::link(file.c_str(), target.c_str()) != 0)
        throw system_error("cannot keep " + file.filename().string(), errno);
    sync_directory(target.parent_path());
}

void Quarantine::write(const std::filesystem::path& as, std::string_view content) {
    write_file_atomically(place(as), content);
}

}  // namespace svc::server::state

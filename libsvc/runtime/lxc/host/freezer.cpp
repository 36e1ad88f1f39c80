#include "libsvc/runtime/lxc/host/freezer.h"

#include <poll.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

namespace {

constexpr std::chrono::milliseconds between_looks{2};

// How one version of control groups freezes a group.
struct Freezer {
    std::filesystem::path group;
    std::string_view wish;  // the file that is written: `freeze` or `thaw`
    std::string_view freeze, thaw;
    std::string_view state;  // the file that has `still` in a line when all processes are frozen
    std::string_view still;
};

Freezer freezer_of(const CgroupLayout& layout, std::string_view group) {
    if (const auto v1 = layout.v1.find("freezer"); v1 != layout.v1.end())
        return {v1->second / group, "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"};
    if (!layout.v2.empty())
        return {layout.v2 / group, "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1"};
    throw Error(ErrorCode::unsupported, "this machine has no control groups that can be frozen");
}

bool has_freezer(const CgroupLayout& layout) {
    return layout.v1.contains("freezer") || !layout.v2.empty();
}

bool write_wish(const std::filesystem::path& group, const Freezer& freezer, std::string_view wish) {
    std::ofstream file(group / freezer.wish);
    file << wish << std::flush;
    return file.good();
}

bool stands_still(const Freezer& freezer) {
    std::ifstream file(freezer.group / freezer.state);
    for (std::string line; std::getline(file, line);)
        if (line == freezer.still) return true;
    return false;
}

// The wish is repeated: version 1 looks at processes that were not ready then only when it is told again.
bool freeze_until(const Freezer& freezer, std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        if (!write_wish(freezer.group, freezer, freezer.freeze)) return false;
        if (stands_still(freezer)) return true;
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::poll(nullptr, 0, between_looks.count());
    }
}

}  // namespace

void freeze_group(const CgroupLayout& layout, std::string_view group, std::chrono::milliseconds limit) {
    if (freeze_until(freezer_of(layout, group), deadline_after(limit))) return;
    thaw_group(layout, group);
    throw Error(ErrorCode::unavailable, "its processes could not be frozen in time");
}

void thaw_group(const CgroupLayout& layout, std::string_view group) {
    if (!has_freezer(layout)) return;
    const Freezer freezer = freezer_of(layout, group);
    const auto thaw = [&](const std::filesystem::path& each) { write_wish(each, freezer, freezer.thaw); };
    if (layout.v1.contains("freezer"))
        for_each_group(freezer.group, thaw);
    else
        thaw(freezer.group);
}

void let_killed_end(const CgroupLayout& layout, std::string_view group, int pidfd) {
    const auto v1 = layout.v1.find("freezer");
    if (v1 == layout.v1.end() || !is_frozen(layout, group)) return;
    if (const pid_t process = pid_of(pidfd); process > 0)
        std::ofstream(v1->second / "cgroup.procs") << process;  // fails where it has ended
}

bool is_frozen(const CgroupLayout& layout, std::string_view group) {
    if (!has_freezer(layout)) return false;
    const Freezer freezer = freezer_of(layout, group);
    std::string wish;
    std::ifstream(freezer.group / freezer.wish) >> wish;
    return !wish.empty() && wish != freezer.thaw;
}

}  // namespace svc::lxc

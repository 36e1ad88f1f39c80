#include "libsvc/runtime/lxc/launcher/groups.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace svc::lxc {

namespace {

// What a guest's groups of version 2 may be: the depth keeps every path below PATH_MAX, whatever the names.
constexpr std::string_view most_groups = "4096";
constexpr std::string_view most_levels = "12";
constexpr int most_removed_levels = 100;
constexpr const char* entered_group = "svc.entered";

void make_folder(int parent, const std::string& name) {
    if (::mkdirat(parent, name.c_str(), 0755) != 0 && errno != EEXIST)
        fail("cannot make control group '" + name + "'");
}

// A group of the version 1 of cpuset takes no process before it has processors and memory nodes.
void inherit_cpuset(int parent, int group) {
    for (const char* file : {"cpuset.cpus", "cpuset.mems"})
        if (read_text(group, file).find_first_not_of('\n') == std::string::npos)
            write_text(group, file, read_text(parent, file));
}

// Words in a list of the kernel, which end with a space or a line.
bool has_word(const std::string& list, std::string_view word) {
    std::string text = " " + list;
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.find(" " + std::string(word) + " ") != std::string::npos;
}

// Controllers are handed down one by one: a machine may lack some, and the limits tell then. Only what is not
// handed down yet is written: the kernel visits each group beneath for a write that changes nothing, too.
void enable_controllers(int group) {
    const std::string there = read_text(group, "cgroup.controllers");
    const std::string enabled = read_text(group, "cgroup.subtree_control");
    for (const std::string controller : {"cpu", "memory", "pids", "io", "cpuset"}) {
        if (!has_word(there, controller) || has_word(enabled, controller)) continue;
        const Descriptor file(::openat(group, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC));
        const std::string text = "+" + controller;
        if (file && ::write(file.get(), text.data(), text.size()) < 0) continue;
    }
}

Descriptor make_below(const Hierarchy& hierarchy, const std::string& group) {
    Descriptor parent = opened(AT_FDCWD, hierarchy.mount, O_PATH | O_DIRECTORY, "cannot open");
    for (std::size_t begin = 0; begin < group.size();) {
        const std::size_t end = std::min(group.find('/', begin), group.size());
        const std::string name = group.substr(begin, end - begin);
        begin = end + 1;
        if (hierarchy.kind == Hierarchy::Kind::version_2) enable_controllers(parent.get());
        make_folder(parent.get(), name);
        Descriptor made = opened(parent.get(), name, O_PATH | O_DIRECTORY, "cannot open");
        if (hierarchy.has("cpuset") && hierarchy.kind == Hierarchy::Kind::version_1)
            inherit_cpuset(parent.get(), made.get());
        parent = std::move(made);
    }
    return parent;
}

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

Folder read_folder(int group) {
    DIR* folder = ::fdopendir(::openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder == nullptr) fail("cannot list a control group");
    return {folder, ::closedir};
}

// Each level takes descriptors, and a guest decides how many levels there are.
void remove_below(int group, int depth) {
    if (depth > most_removed_levels) throw LaunchFailure("the guest's control groups are too deep");
    const Folder folder = read_folder(group);
    while (const dirent* entry = ::readdir(folder.get())) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
        const Descriptor below(::openat(group, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (below) remove_below(below.get(), depth + 1);
        ::unlinkat(group, entry->d_name, AT_REMOVEDIR);
    }
}

// Root of the container may write as the group's owner; it owns nothing of it.
void hand_over(int group, const char* name, unsigned owner, mode_t mode) {
    if (::fchownat(group, name, 0, owner, AT_EMPTY_PATH) == 0 &&
        ::fchmodat(group, *name == '\0' ? "." : name, mode, 0) == 0)
        return;
    if (errno != ENOENT) fail("cannot give a control group to the guest");
}

}  // namespace

bool Hierarchy::has(std::string_view controller) const {
    const std::string list = "," + controllers + ",";
    return list.find("," + std::string(controller) + ",") != std::string::npos;
}

Groups::Groups(const Plan& plan) {
    for (const Hierarchy& hierarchy : plan.hierarchies)
        groups_.push_back({&hierarchy, make_below(hierarchy, plan.group)});
    for (const GroupLimit& set : plan.limits) limit(set);
    for (const Group& group : groups_) delegate(group, plan.first_id);
}

void Groups::limit(const GroupLimit& limit) const {
    for (const Group& group : groups_) {
        const bool second = group.hierarchy->kind == Hierarchy::Kind::version_2;
        if (second != limit.version_2 || !(second || group.hierarchy->has(limit.controller))) continue;
        return write_text(group.folder.get(), limit.file, limit.value);
    }
    throw LaunchFailure("no control group can limit '" + limit.file + "'");
}

// Of version 1 a guest gets only a hierarchy without a controller, systemd's. The others could not be
// limited: groups take memory that nobody is charged for and numbers of which the kernel has 65,535 for all,
// and what is frozen there cannot be killed.
void Groups::delegate(const Group& group, unsigned owner) const {
    const int folder = group.folder.get();
    std::array<const char*, 5> files = {"cgroup.procs", "tasks"};
    if (group.hierarchy->kind == Hierarchy::Kind::version_2) {
        write_text(folder, "cgroup.max.descendants", most_groups);
        write_text(folder, "cgroup.max.depth", most_levels);
        files = {"cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "memory.oom.group",
                 "memory.reclaim"};
    } else if (group.hierarchy->kind != Hierarchy::Kind::named) {
        return;
    }
    hand_over(folder, "", owner, 0775);
    for (const char* file : files)
        if (file != nullptr) hand_over(folder, file, owner, 0664);
}

int Groups::version_2() const {
    for (const Group& group : groups_)
        if (group.hierarchy->kind == Hierarchy::Kind::version_2) return group.folder.get();
    return -1;
}

void Groups::remove(const Plan& plan) {
    for (const Hierarchy& hierarchy : plan.hierarchies) {
        const std::string path = hierarchy.mount + "/" + plan.group;
        const Descriptor group(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (group) remove_below(group.get(), 0);
        ::rmdir(path.c_str());
    }
}

void Groups::enter_monitor_group(const Plan& plan) {
    for (const Hierarchy& hierarchy : plan.hierarchies)
        if (hierarchy.kind != Hierarchy::Kind::version_1)
            write_text(make_below(hierarchy, plan.monitor_group).get(), "cgroup.procs", "0");
}

Groups Groups::existing(const Plan& plan) {
    Groups groups;
    for (const Hierarchy& hierarchy : plan.hierarchies)
        groups.groups_.push_back({&hierarchy, opened(AT_FDCWD, hierarchy.mount + "/" + plan.group,
                                                     O_PATH | O_DIRECTORY, "cannot open")});
    return groups;
}

void Groups::enter_all(pid_t process) const {
    enter(process);
    const int group = version_2();
    if (group < 0) return;
    const std::string text = std::to_string(process);
    const Descriptor members = opened(group, "cgroup.procs", O_WRONLY, "cannot open");
    if (::write(members.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return;
    if (errno != EBUSY && errno != EOPNOTSUPP) fail("cannot enter the control group of the container");
    make_folder(group, entered_group);
    write_text(group, std::string(entered_group) + "/cgroup.procs", text);
}

void Groups::enter(pid_t process) const {
    for (const Group& group : groups_)
        if (group.hierarchy->kind != Hierarchy::Kind::version_2)
            write_text(group.folder.get(), "cgroup.procs", std::to_string(process));
}

}  // namespace svc::lxc

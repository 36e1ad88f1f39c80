#include "libsvc/runtime/lxc/disk/quota.h"

#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::lxc {

namespace {

constexpr std::uint32_t first_project = 0x53000000;  // far from the small numbers that administrators use
constexpr std::uint32_t project_mask = 0x00ffffff;
constexpr std::uint64_t fewest_files = 4096;

// quotactl_fd(2): for the file system of a folder, without the name of its device.
long quota_call(int fd, unsigned command, std::uint32_t id, void* argument) {
    return ::syscall(SYS_quotactl_fd, fd, QCMD(command, PRJQUOTA), id, argument);
}

FileDescriptor open_directory(const std::filesystem::path& path) {
    return open_file(path, O_RDONLY | O_DIRECTORY);
}

bool is_used(int fd, std::uint32_t project) {
    if_dqblk usage{};
    if (quota_call(fd, Q_GETQUOTA, project, &usage) != 0) return false;
    return usage.dqb_curspace != 0 || usage.dqb_curinodes != 0 || usage.dqb_bhardlimit != 0;
}

}  // namespace

Quota::Quota(std::filesystem::path directory, std::uint64_t bytes_per_file)
    : directory_(std::move(directory)), bytes_per_file_(bytes_per_file) {
    const FileDescriptor fd = open_directory(directory_);
    fs_quota_statv state{};
    state.qs_version = FS_QSTATV_VERSION1;
    if (quota_call(fd.get(), Q_XGETQSTATV, 0, &state) != 0)
        reason_ = std::string("the state directory's file system has no project quota (") +
                  ::strerrordesc_np(errno) + ")";
    else if ((state.qs_flags & FS_QUOTA_PDQ_ENFD) == 0)
        reason_ = "the state directory's file system is mounted without enforcing project quotas";
    else
        enforced_ = true;
}

std::uint32_t Quota::choose_project(std::string_view name) const {
    std::uint32_t hash = 0x811c9dc5;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
    const FileDescriptor fd = open_directory(directory_);
    for (std::uint32_t attempt = 0; attempt < 1000; ++attempt) {
        const std::uint32_t project = first_project + ((hash + attempt) & project_mask);
        if (!is_used(fd.get(), project)) return project;
    }
    throw Error(ErrorCode::exhausted, "no free disk quota number");
}

void Quota::limit(std::uint32_t project, const std::vector<std::filesystem::path>& folders,
                  std::uint64_t bytes) const {
    for (const std::filesystem::path& folder : folders) {
        const FileDescriptor fd = open_directory(folder);
        fsxattr attributes{};
        if (::ioctl(fd.get(), FS_IOC_FSGETXATTR, &attributes) != 0)
            throw system_error("cannot read a disk quota", errno);
        attributes.fsx_projid = project;
        attributes.fsx_xflags |= FS_XFLAG_PROJINHERIT;
        if (::ioctl(fd.get(), FS_IOC_FSSETXATTR, &attributes) != 0)
            throw system_error("cannot set a disk quota", errno);
    }
    if_dqblk limits{};
    limits.dqb_bhardlimit = (bytes + 1023) / 1024;
    // A small disk has files enough for a system.
    if (bytes_per_file_ != 0) limits.dqb_ihardlimit = std::max(fewest_files, bytes / bytes_per_file_);
    limits.dqb_valid = QIF_LIMITS;
    const FileDescriptor fd = open_directory(directory_);
    if (quota_call(fd.get(), Q_SETQUOTA, project, &limits) != 0)
        throw system_error("cannot set a disk limit", errno);
}

std::uint32_t Quota::project_of(const std::filesystem::path& folder) const {
    if (!enforced_) return 0;
    fsxattr attributes{};
    if (::ioctl(open_directory(folder).get(), FS_IOC_FSGETXATTR, &attributes) != 0)
        throw system_error("cannot read a disk quota", errno);
    return attributes.fsx_projid;
}

std::optional<std::uint64_t> Quota::used(std::uint32_t project) const {
    if (!enforced_ || project == 0) return std::nullopt;
    const FileDescriptor fd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if_dqblk usage{};
    if (!fd || quota_call(fd.get(), Q_GETQUOTA, project, &usage) != 0) return std::nullopt;
    return usage.dqb_curspace;
}

void Quota::release(std::uint32_t project) const {
    if (!enforced_ || project == 0) return;
    const FileDescriptor fd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if_dqblk none{};
    none.dqb_valid = QIF_LIMITS;
    if (quota_call(fd.get(), Q_SETQUOTA, project, &none) != 0)
        log::debug("disk limit was not lifted", {{"project", std::to_string(project)}});
}

}  // namespace svc::lxc

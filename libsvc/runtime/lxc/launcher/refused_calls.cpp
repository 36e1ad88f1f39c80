#include "libsvc/runtime/lxc/launcher/refused_calls.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

namespace {

void check_filter(int result, std::string_view what) {
    if (result == 0) return;
    errno = -result;
    fail("cannot refuse system calls, " + std::string(what));
}

// Programs of the other widths that this kernel runs are held to the same rules.
void add_widths(scmp_filter_ctx filter) {
    const std::uint32_t native = ::seccomp_arch_native();
    const auto add = [&](std::uint32_t width) {
        check_filter(::seccomp_arch_add(filter, width), "another width");
    };
    if (native == SCMP_ARCH_X86_64) add(SCMP_ARCH_X86), add(SCMP_ARCH_X32);
    if (native == SCMP_ARCH_AARCH64) add(SCMP_ARCH_ARM);
}

void refuse_forced_unmount(scmp_filter_ctx filter) {
    const scmp_arg_cmp forced{1, SCMP_CMP_MASKED_EQ, MNT_FORCE, MNT_FORCE};  // the flags, the second argument
    check_filter(::seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(umount2), 1, &forced),
                 "umount2");
}

// "acct errno 1"
void refuse(scmp_filter_ctx filter, const std::string& line) {
    char name[64];
    unsigned error = 0;
    if (std::sscanf(line.c_str(), "%63s errno %u", name, &error) != 2)
        throw LaunchFailure("refused system calls: unknown line '" + line + "'");
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) throw LaunchFailure(std::string("unknown system call '") + name + "'");
    check_filter(::seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), number, 0), name);
}

void take_line(scmp_filter_ctx filter, const std::string& line) {
    if (line == "2" || line == "denylist" || line == "[all]" || line.empty()) return;
    if (line == "reject_force_umount") return refuse_forced_unmount(filter);
    refuse(filter, line);
}

}  // namespace

RefusedCalls::RefusedCalls(const std::string& file) : filter_(::seccomp_init(SCMP_ACT_ALLOW)) {
    if (!filter_) throw LaunchFailure("cannot make a filter of system calls");
    check_filter(::seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_NNP, 0), "attributes");
    add_widths(filter_.get());
    const std::string profile = read_text(AT_FDCWD, file);
    if (!profile.starts_with("2\ndenylist\n"))
        throw LaunchFailure("'" + file + "' is no list of refused system calls");
    for (std::size_t begin = 0; begin < profile.size();) {
        const std::size_t end = std::min(profile.find('\n', begin), profile.size());
        take_line(filter_.get(), profile.substr(begin, end - begin));
        begin = end + 1;
    }
}

void RefusedCalls::Release::operator()(void* filter) const {
    ::seccomp_release(filter);
}

void RefusedCalls::load() const {
    check_filter(::seccomp_load(filter_.get()), "loading");
}

}  // namespace svc::lxc

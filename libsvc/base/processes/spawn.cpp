#include "libsvc/base/processes/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sanitizer/asan_interface.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/processes/confine.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// clone() of the address sanitizer assumes that the child has memory of its own, and aborts the process.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);  // NOLINT(bugprone-reserved-identifier)
#define SVC_CLONE __clone
#endif
#endif
#ifndef SVC_CLONE
#define SVC_CLONE ::clone
#endif

namespace svc {

namespace {

std::atomic<std::uint64_t> file_limit_of_children{0};

struct Mapping {
    int ours;
    int theirs;
    int copy;  // number of the child's temporary copy, above all targets
};

// Made by the parent: the child shares its memory and must not allocate.
struct Plan {
    std::vector<char*> arguments;
    std::vector<char*> environment;
    std::vector<Mapping> mappings;  // ordered by `theirs`
    bool new_session = false;
    bool ends_with_us = false;
    pid_t parent = 0;
    const char* directory = nullptr;
    std::uint64_t file_limit = 0;  // 0: the parent's
    const Confinement* confinement = nullptr;
    int error = 0;  // written by the child
};

std::vector<char*> to_pointers(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<Mapping> make_mappings(const SpawnOptions& options, int null_device) {
    std::vector<Mapping> mappings;
    for (const auto& [ours, theirs] : options.descriptors) mappings.push_back({ours, theirs, -1});
    for (int standard = 0; standard <= 2; ++standard) {
        const auto named = [standard](const Mapping& mapping) { return mapping.theirs == standard; };
        if (std::none_of(mappings.begin(), mappings.end(), named))
            mappings.push_back({null_device, standard, -1});
    }
    std::sort(mappings.begin(), mappings.end(),
              [](const Mapping& a, const Mapping& b) { return a.theirs < b.theirs; });
    return mappings;
}

// From here to `run_child`: in the child, on the parent's memory. System calls only, and no return into C++
// code of the parent.

void reset_signals() {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The parent's table was not copied for the child: that takes as long as the parent has many descriptors.
// What is copied here ends with the highest one that is named.
bool own_descriptors(const std::vector<Mapping>& mappings) {
    int highest = 0;
    for (const Mapping& mapping : mappings) highest = std::max({highest, mapping.ours, mapping.theirs});
    return ::close_range(static_cast<unsigned>(highest) + 1, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0;
}

bool move_descriptors(std::vector<Mapping>& mappings) {
    const int first_free = mappings.back().theirs + 1;
    for (Mapping& mapping : mappings) {
        mapping.copy = ::fcntl(mapping.ours, F_DUPFD_CLOEXEC, first_free);
        if (mapping.copy < 0) return false;
    }
    for (const Mapping& mapping : mappings)
        if (::dup2(mapping.copy, mapping.theirs) < 0) return false;  // the new one survives exec
    unsigned next = 0;
    for (const Mapping& mapping : mappings) {
        const auto kept = static_cast<unsigned>(mapping.theirs);
        if (kept > next && ::close_range(next, kept - 1, 0) != 0) return false;
        next = kept + 1;
    }
    return ::close_range(next, UINT_MAX, 0) == 0;
}

// Last: descriptors that are moved may have numbers above it.
bool limit_files(std::uint64_t files) {
    rlimit limit{};
    if (files == 0) return true;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    limit.rlim_cur = std::min<rlim_t>(files, limit.rlim_max);
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// After a change of the user, which takes the request back. The parent may have ended before it: then nobody
// would send the signal. From a namespace of its own the child sees no parent.
bool end_with(pid_t parent, bool confined) {
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && (confined || ::getppid() == parent);
}

int run_child(void* argument) {
    Plan& plan = *static_cast<Plan*>(argument);
    reset_signals();
    const bool confined = plan.confinement != nullptr;
    const bool prepared = own_descriptors(plan.mappings) && (!plan.new_session || ::setsid() >= 0) &&
                          (plan.directory == nullptr || ::chdir(plan.directory) == 0) &&
                          move_descriptors(plan.mappings) && limit_files(plan.file_limit) &&
                          (!confined || confine(*plan.confinement)) &&
                          (!plan.ends_with_us || end_with(plan.parent, confined));
    if (prepared) ::execve(plan.arguments[0], plan.arguments.data(), plan.environment.data());
    plan.error = errno;
    ::_exit(127);
}

class Stack {
  public:
    Stack()
        : memory_(
              ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
        if (memory_ == MAP_FAILED) throw system_error("cannot make a stack", errno);
    }
    ~Stack() {
        // The child left its frames by exec: the address sanitizer would hold them against who gets the
        // memory next.
        ASAN_UNPOISON_MEMORY_REGION(memory_, size);
        ::munmap(memory_, size);
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    void* top() const { return static_cast<char*>(memory_) + size; }

  private:
    static constexpr std::size_t size = 256U << 10;
    void* memory_;
};

// A handler of the parent must not run in the child while both use the same memory.
class SignalBlock {
  public:
    SignalBlock() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalBlock(const SignalBlock&) = delete;
    SignalBlock& operator=(const SignalBlock&) = delete;

  private:
    sigset_t before_;
};

}  // namespace

void set_file_limit_of_children(std::uint64_t files) {
    file_limit_of_children = files;
}

SpawnedProcess spawn_process(const SpawnOptions& options) {
    const FileDescriptor null_device = open_file("/dev/null", O_RDWR);
    Plan plan;
    plan.arguments = to_pointers(options.arguments);
    plan.environment = to_pointers(options.environment);
    plan.mappings = make_mappings(options, null_device.get());
    plan.new_session = options.new_session;
    plan.ends_with_us = options.ends_with_us;
    plan.parent = ::getpid();
    plan.file_limit = file_limit_of_children;
    if (!options.directory.empty()) plan.directory = options.directory.c_str();
    if (options.confinement) plan.confinement = &*options.confinement;
    const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | SIGCHLD;
    const int apart = options.confinement ? confinement_namespaces : 0;
    const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    const Stack stack;
    int pidfd = -1;
    SpawnedProcess spawned;
    int clone_error = 0;
    {
        const SignalBlock block;
        // CLONE_VFORK: the parent continues when the child has called exec or exit and no longer uses its
        // memory.
        spawned.pid = SVC_CLONE(run_child, stack.top(), flags | apart, &plan, &pidfd);
        clone_error = errno;
    }
    if (spawned.pid < 0) throw system_error("cannot start a process", clone_error);
    // A confined child changes its user on our memory, which then counts as secret: good until it has gone,
    // as no other process of that user looks into it, but we would leave no core file for ever.
    if (options.confinement) ::prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
    failpoint("process.spawned");
    spawned.pidfd = FileDescriptor(pidfd);
    spawned.exec_error = plan.error;
    return spawned;
}

}  // namespace svc

/* Runs as root inside an instance, linked statically: tries what only the host's root may do, and prints a
   line for each thing that it could. What it can do is undone or without effect. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void tell(const char* what, int could) {
    if (could) printf("could %s\n", what), fflush(stdout);
}

/* Files of the kernel that this root may open for writing. Nothing is written. */
static void find_writable(const char* folder, int depth) {
    DIR* const directory = opendir(folder);
    if (directory == NULL) return;
    for (const struct dirent* entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char path[4096];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lstat(path, &info) != 0) continue;
        if (S_ISDIR(info.st_mode) && depth > 0) find_writable(path, depth - 1);
        if (!S_ISREG(info.st_mode) || (info.st_mode & 0222) == 0) continue;
        const int file = open(path, O_WRONLY | O_NONBLOCK);
        if (file < 0) continue;
        close(file);
        printf("could write %s\n", path);
    }
    closedir(directory);
}

static int mounts(const char* type, const char* at) {
    mkdir(at, 0700);
    return mount(type, at, type, 0, NULL) == 0;
}

static void try_files(void) {
    tell("see the kernel's files through a mount of its own", 0);
    mounts("proc", "/tmp/proc");
    mounts("sysfs", "/tmp/sys");
    mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL);
    mount(NULL, "/sys", NULL, MS_REMOUNT | MS_BIND, NULL);
    umount2("/proc/sys", MNT_DETACH);
    static const char* const roots[] = {"/proc/sys",  "/proc/irq", "/proc/fs", "/proc/bus",    "/proc/driver",
                                        "/proc/acpi", "/sys",      "/tmp/sys", "/tmp/proc/sys"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; ++i) find_writable(roots[i], 9);
    static const char* const files[] = {
        "/proc/sysrq-trigger", "/proc/kcore",        "/proc/kmsg",         "/proc/timer_stats",
        "/proc/sched_debug",   "/proc/mtrr",         "/dev/kmsg",          "/dev/mem",
        "/proc/kpageflags",    "/proc/kpagecount",   "/proc/kpagecgroup",  "/proc/slabinfo",
        "/proc/vmallocinfo",   "/proc/pagetypeinfo", "/proc/kallsyms_all", "/proc/1/../kcore"};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        if (access(files[i], F_OK) != 0) continue;
        for (int write = 0; write < 2; ++write) {
            const int file = open(files[i], (write ? O_WRONLY : O_RDONLY) | O_NONBLOCK);
            if (file < 0) continue;
            char byte;
            char what[256];
            snprintf(what, sizeof what, "%s %s", write ? "write" : "read", files[i]);
            tell(what, write || read(file, &byte, 1) >= 0);
            close(file);
        }
    }
}

static void try_mounts(void) {
    static const char* const types[] = {"debugfs",  "tracefs",  "securityfs", "devtmpfs",
                                        "configfs", "efivarfs", "pstore",     "selinuxfs",
                                        "smackfs",  "nfsd",     "hugetlbfs",  "rpc_pipefs"};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        char what[64];
        snprintf(what, sizeof what, "mount %s", types[i]);
        const int got = mounts(types[i], "/tmp/mounted");
        tell(what, got);
        if (got) umount("/tmp/mounted");
    }
    tell("make the root mount private to the host", 0);
}

static void try_devices(void) {
    static const struct {
        unsigned type, major, minor;
    } devices[] = {{S_IFBLK, 8, 0},    {S_IFBLK, 254, 0}, {S_IFBLK, 259, 0},
                   {S_IFCHR, 1, 1},    {S_IFCHR, 1, 11},  {S_IFCHR, 10, 200},
                   {S_IFCHR, 10, 232}, {S_IFCHR, 5, 2},   {S_IFBLK, 7, 0}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i) {
        char what[64];
        snprintf(what, sizeof what, "make device %u:%u", devices[i].major, devices[i].minor);
        tell(what,
             mknod("/tmp/node", devices[i].type | 0666, makedev(devices[i].major, devices[i].minor)) == 0);
        unlink("/tmp/node");
    }
}

static int loads_program(void) {
    const struct bpf_insn code[] = {{.code = 0xb7, .imm = 0}, {.code = 0x95}};
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    attributes.insns = (unsigned long)code;
    attributes.insn_cnt = 2;
    attributes.license = (unsigned long)"GPL";
    return syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes) >= 0;
}

static int makes_map(void) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = attributes.value_size = 4;
    attributes.max_entries = 1;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes) >= 0;
}

static int opens_counter(void) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.size = sizeof attributes;
    return syscall(SYS_perf_event_open, &attributes, -1, 0, -1, 0L) >= 0;
}

static int opens_by_handle(void) {
    struct {
        struct file_handle handle;
        unsigned char bytes[128];
    } space;
    space.handle.handle_bytes = 128;
    int mount = 0;
    if (name_to_handle_at(AT_FDCWD, "/", &space.handle, &mount, 0) != 0) {
        space.handle.handle_bytes = 8;
        space.handle.handle_type = 1;
        memset(space.bytes, 0, 8);  // the bytes of the handle follow it
        space.bytes[0] = 2;
    }
    const int root = open("/", O_RDONLY | O_DIRECTORY);
    return open_by_handle_at(root, &space.handle, O_RDONLY) >= 0;
}

static int raises_limit(int which) {
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return 0;
    limit.rlim_max += 1;
    return setrlimit(which, &limit) == 0;
}

static int writes(const char* path, const char* text) {
    const int file = open(path, O_WRONLY);
    if (file < 0) return 0;
    const int done = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    return done;
}

static int is_called(const char* comm, const char* name) {
    char text[64] = "";
    FILE* const file = fopen(comm, "r");
    if (file == NULL) return 0;
    const int same = fgets(text, sizeof text, file) != NULL && strcmp(text, name) == 0;
    fclose(file);
    return same;
}

static void try_calls(void) {
    static const char none[1] = "";
    char text[64];
    struct timex clock_state;
    memset(&clock_state, 0, sizeof clock_state);
    clock_state.modes = ADJ_TICK;
    clock_state.tick = 10000;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct sched_param first = {.sched_priority = 1};
    tell("load a kernel", syscall(SYS_kexec_load, 0L, 0L, NULL, 0L) == 0);
    tell("load a kernel file", syscall(SYS_kexec_file_load, 0, 0, 0L, none, 0L) == 0 || errno == EBADF);
    tell("load a module", syscall(SYS_init_module, none, 0L, none) == 0 || errno == ENOEXEC);
    tell("load a module file",
         syscall(SYS_finit_module, 0, none, 0) == 0 || errno == ENOEXEC || errno == EBADF);
    tell("remove a module", syscall(SYS_delete_module, "no such", 0) == 0 || errno == ENOENT);
    tell("load a program of bpf", loads_program());
    tell("make a map of bpf", makes_map());
    tell("count events of the whole machine", opens_counter());
    tell("open files by handle", opens_by_handle());
    tell("read the kernel's log", klogctl(3, text, sizeof text) >= 0);
    tell("size the kernel's log", klogctl(10, NULL, 0) >= 0);
    tell("clear the kernel's log", klogctl(5, NULL, 0) >= 0);
    tell("set the clock", clock_settime(CLOCK_REALTIME, &now) == 0);
    tell("adjust the clock", adjtimex(&clock_state) >= 0);
    tell("swap to a file", swapon("/bin/busybox", 0) == 0 || errno == EINVAL);
    tell("stop swapping", swapoff("/bin/busybox") == 0 || errno == EINVAL);
    tell("account processes", acct(NULL) == 0);
    tell("use ports of the machine", syscall(SYS_iopl, 3) == 0 || syscall(SYS_ioperm, 0x80L, 1L, 1) == 0);
    tell("set up io_uring", syscall(SYS_io_uring_setup, 1, text) >= 0 || (errno != ENOSYS && errno != EPERM));
    tell("run before all others", sched_setscheduler(0, SCHED_FIFO, &first) == 0);
    tell("be nicer to itself", setpriority(PRIO_PROCESS, 0, -5) == 0);
    tell("have its reads and writes first", syscall(SYS_ioprio_set, 1, 0, 1 << 13) == 0);
    tell("never be killed for memory", writes("/proc/self/oom_score_adj", "-1000"));
    tell("lock more memory", raises_limit(RLIMIT_MEMLOCK));
    tell("queue more messages", raises_limit(RLIMIT_MSGQUEUE));
    tell("have more signals pending", raises_limit(RLIMIT_SIGPENDING));
    tell("open more files", raises_limit(RLIMIT_NOFILE));
    tell("see the init of the machine",
         kill(1, 0) == 0 && getppid() == 0 && is_called("/proc/2/comm", "kthreadd\n"));
}

int main(void) {
    umask(0);
    try_calls();
    try_devices();
    try_mounts();
    try_files();
    puts("end");
    return 0;
}

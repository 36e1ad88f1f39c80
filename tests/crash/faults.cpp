// A library that is preloaded: one system call of the process fails.
//
// SVC_FAULT=N:SEED: the N-th of the calls below fails (counted from 1), in one of its ways, which SEED
// chooses.
//
// SVC_FAULT_ONLY=CALL: only calls of this name count.
//
// SVC_FAULT_COUNT=FILE: a file of eight bytes that outlives the process: how many calls there were.
//
// Written out: "svc-fault: CALL fails with ERROR" on standard error, so that a test tells what it has done.
// Both names of a call are defined here, so neither may stand for the other.
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int short_write = -1;  // not an error: less is written than was asked for

std::atomic<unsigned long> own_count{0};
std::atomic<unsigned long>* count = &own_count;
unsigned long wanted = 0;
unsigned long chosen = 0;
const char* only = nullptr;  // SVC_FAULT_ONLY=CALL: calls of this name alone count

__attribute__((constructor)) void read_orders() {
    if (const char* order = std::getenv("SVC_FAULT")) std::sscanf(order, "%lu:%lu", &wanted, &chosen);
    only = std::getenv("SVC_FAULT_ONLY");
    const char* file = std::getenv("SVC_FAULT_COUNT");
    if (file == nullptr) return;
    const int fd = ::open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, sizeof own_count) != 0) std::abort();
    void* memory = ::mmap(nullptr, sizeof own_count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) std::abort();
    count = static_cast<std::atomic<unsigned long>*>(memory);
    count->store(0);
}

// 0: the call is made. Standard output and error are no part of the service.
template <std::size_t size>
int fault(const char* name, const int (&ways)[size]) {
    if (only != nullptr && std::strcmp(only, name) != 0) return 0;
    if (++*count != wanted) return 0;
    const int way = ways[chosen % size];
    char line[128];
    const int length = std::snprintf(line, sizeof line, "svc-fault: %s fails with %s\n", name,
                                     way == short_write ? "less written" : ::strerrorname_np(way));
    static const auto write_line =
        reinterpret_cast<ssize_t (*)(int, const void*, size_t)>(::dlsym(RTLD_NEXT, "write"));
    if (write_line(2, line, static_cast<size_t>(length)) < 0) std::abort();
    return way;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int fail(int number) {
    errno = number;
    return -1;
}

constexpr int write_ways[] = {ENOSPC, EIO, EINTR, short_write};
constexpr int sync_ways[] = {EIO, ENOSPC};
constexpr int name_ways[] = {ENOSPC, EIO, ENOMEM};
constexpr int open_ways[] = {EMFILE, ENFILE, ENOMEM, EINTR, ENOSPC};
constexpr int socket_ways[] = {EMFILE, ENOMEM};
constexpr int accept_ways[] = {EMFILE, EINTR, ECONNABORTED, ENOMEM};
constexpr int send_ways[] = {EINTR, ENOBUFS, ENOMEM};

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
    const int way = fd > 2 ? fault("write", write_ways) : 0;
    if (way > 0) return fail(way);
    return real(fd, data, way == short_write && size > 1 ? size / 2 : size);
}

#define SVC_PWRITE(NAME, OFFSET)                                                             \
    ssize_t NAME(int fd, const void* data, size_t size, OFFSET offset) {                     \
        static const auto real = next<ssize_t (*)(int, const void*, size_t, OFFSET)>(#NAME); \
        const int way = fault(#NAME, write_ways);                                            \
        if (way > 0) return fail(way);                                                       \
        return real(fd, data, way == short_write && size > 1 ? size / 2 : size, offset);     \
    }
SVC_PWRITE(pwrite, off_t)
SVC_PWRITE(pwrite64, off64_t)

#define SVC_OPEN(NAME)                                                                       \
    int NAME(const char* path, int flags, ...) {                                             \
        static const auto real = next<int (*)(const char*, int, mode_t)>(#NAME);             \
        std::va_list more;                                                                   \
        va_start(more, flags);                                                               \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                                        \
        const int way = fault(#NAME, open_ways);                                             \
        return way != 0 ? fail(way) : real(path, flags, mode);                               \
    }
SVC_OPEN(open)
SVC_OPEN(open64)

#define SVC_OPENAT(NAME)                                                                     \
    int NAME(int folder, const char* path, int flags, ...) {                                 \
        static const auto real = next<int (*)(int, const char*, int, mode_t)>(#NAME);        \
        std::va_list more;                                                                   \
        va_start(more, flags);                                                               \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                                        \
        const int way = fault(#NAME, open_ways);                                             \
        return way != 0 ? fail(way) : real(folder, path, flags, mode);                       \
    }
SVC_OPENAT(openat)
SVC_OPENAT(openat64)

#define SVC_CALL(NAME, WAYS, PARAMETERS, ARGUMENTS)              \
    int NAME PARAMETERS {                                        \
        static const auto real = next<int(*) PARAMETERS>(#NAME); \
        const int way = fault(#NAME, WAYS);                      \
        return way != 0 ? fail(way) : real ARGUMENTS;            \
    }
SVC_CALL(fsync, sync_ways, (int fd), (fd))
SVC_CALL(fdatasync, sync_ways, (int fd), (fd))
SVC_CALL(syncfs, sync_ways, (int fd) noexcept, (fd))
SVC_CALL(ftruncate, sync_ways, (int fd, off_t size) noexcept, (fd, size))
SVC_CALL(ftruncate64, sync_ways, (int fd, off64_t size) noexcept, (fd, size))
SVC_CALL(rename, name_ways, (const char* from, const char* to) noexcept, (from, to))
SVC_CALL(renameat, name_ways, (int from, const char* old, int to, const char* name) noexcept,
         (from, old, to, name))
SVC_CALL(mkdir, name_ways, (const char* path, mode_t mode) noexcept, (path, mode))
SVC_CALL(link, name_ways, (const char* from, const char* to) noexcept, (from, to))
SVC_CALL(unlink, sync_ways, (const char* path) noexcept, (path))
SVC_CALL(unlinkat, sync_ways, (int folder, const char* path, int flags) noexcept, (folder, path, flags))
SVC_CALL(socket, socket_ways, (int domain, int type, int protocol) noexcept, (domain, type, protocol))
SVC_CALL(accept4, accept_ways, (int fd, sockaddr* peer, socklen_t* size, int flags), (fd, peer, size, flags))
SVC_CALL(accept, accept_ways, (int fd, sockaddr* peer, socklen_t* size), (fd, peer, size))

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
    static const auto real = next<ssize_t (*)(int, const msghdr*, int)>("sendmsg");
    const int way = fault("sendmsg", send_ways);
    return way != 0 ? fail(way) : real(fd, message, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
    static const auto real =
        next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    constexpr int ways[] = {EAGAIN};
    const int way = fault("pthread_create", ways);
    return way != 0 ? way : real(thread, attributes, run, argument);
}

}  // extern "C"

// What the crash tests link in the place of libsvc/base/failpoint.cpp. The environment says what to do:
//   SVC_FAILPOINT=NAME:N        at the N-th time that this process comes to NAME (counted from 1), it ends by
//   SIGKILL SVC_FAILPOINT_STOP=1        ... or stops by SIGSTOP instead, so that the test does something at
//   that moment SVC_FAILPOINT_ONCE=FILE     ... but only if it can remove FILE: one process of many
//   SVC_FAILPOINT_RECORD=FILE   every name that is come to is appended, a line each; what is written outlives
//   the process
// Everything here may be called between fork and exec, and keeps errno.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "libsvc/base/failpoint.h"

namespace {

struct Orders {
    char name[128] = {};
    long number = 0;
    const char* record = nullptr;
    const char* once = nullptr;
    bool stop = false;
};

// Read before the first thread: whoever starts this program passes no environment on to the next.
Orders read_orders() {
    Orders orders;
    orders.record = std::getenv("SVC_FAILPOINT_RECORD");
    orders.once = std::getenv("SVC_FAILPOINT_ONCE");
    orders.stop = std::getenv("SVC_FAILPOINT_STOP") != nullptr;
    const char* wanted = std::getenv("SVC_FAILPOINT");
    const char* colon = wanted == nullptr ? nullptr : std::strrchr(wanted, ':');
    if (colon == nullptr || colon - wanted >= static_cast<long>(sizeof orders.name)) return orders;
    std::memcpy(orders.name, wanted, static_cast<std::size_t>(colon - wanted));
    orders.number = std::atol(colon + 1);
    return orders;
}

const Orders& orders() {
    static const Orders read = read_orders();
    return read;
}

const Orders& read_early = orders();
std::atomic<long> hits{0};

void append_line(const char* file, const char* name) {
    const int fd = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return;
    char line[128];
    std::size_t size = std::strlen(name);
    if (size > sizeof line - 1) size = sizeof line - 1;
    std::memcpy(line, name, size);
    line[size] = '\n';
    if (::write(fd, line, size + 1) < 0) std::abort();  // one write, so that lines of threads do not mix
    ::close(fd);
}

// The first process of a pid namespace cannot kill itself.
void end_here(const Orders& found) {
    if (found.once != nullptr && ::unlink(found.once) != 0) return;
    if (found.stop) {
        ::kill(::getpid(), SIGSTOP);
        return;
    }
    ::kill(::getpid(), SIGKILL);
    ::_exit(128 + SIGKILL);
}

}  // namespace

void svc::failpoint(const char* name) noexcept {
    const Orders& found = orders();
    if (found.record == nullptr && found.number == 0) return;
    const int before = errno;
    if (found.record != nullptr) append_line(found.record, name);
    if (found.number > 0 && std::strcmp(name, found.name) == 0 && ++hits == found.number) end_here(found);
    errno = before;
}

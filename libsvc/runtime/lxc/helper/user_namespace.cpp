// The user namespace of a container. The kernel counts what all processes of a namespace hold (inotify
// instances and watches, namespaces, queued messages, locked memory, pending signals, processes) also against
// the user who made it. liblxc would make it as root, so that all containers would share one count, and one
// of them could use it up. Here an id of the container's own range makes it, and liblxc gets it to share.
#include <fcntl.h>
#include <linux/securebits.h>
#include <lxc/lxccontainer.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

constexpr std::size_t map_size = 1024;

struct IdMaps {
    char users[map_size] = "";  // as in /proc/PID/uid_map
    char groups[map_size] = "";
    unsigned first = 0;  // the host's ids of the users, from the line of the container's root
    unsigned count = 0;
};

bool append(char* map, unsigned inside, unsigned outside, unsigned count) {
    const std::size_t used = std::strlen(map);
    const int size = std::snprintf(map + used, map_size - used, "%u %u %u\n", inside, outside, count);
    return size > 0 && static_cast<std::size_t>(size) < map_size - used;
}

// Lines of "u 0 100000 65536".
bool read_maps(lxc_container* container, IdMaps& maps) {
    char text[2 * map_size];
    const int size = container->get_config_item(container, "lxc.idmap", text, sizeof text);
    if (size <= 0 || static_cast<std::size_t>(size) >= sizeof text) return false;
    char* rest = text;
    while (const char* line = ::strsep(&rest, "\n")) {
        char kind = 0;
        unsigned inside = 0;
        unsigned outside = 0;
        unsigned count = 0;
        if (std::sscanf(line, "%c %u %u %u", &kind, &inside, &outside, &count) != 4) continue;
        if (!append(kind == 'u' ? maps.users : maps.groups, inside, outside, count)) return false;
        if (kind == 'u' && inside == 0) maps.first = outside, maps.count = count;
    }
    return maps.count > 0 && maps.groups[0] != '\0';
}

// Differs between containers, also where they share a range.
unsigned creator_of(const IdMaps& maps, const char* name) {
    std::uint32_t hash = 0x811c9dc5;  // FNV-1a
    for (; *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x01000193;
    return maps.first + hash % maps.count;
}

// Keeps its capabilities, as some machines allow only root to make a user namespace. Lives until the other
// end of the socket is closed.
[[noreturn]] void hold_namespace(unsigned user, int socket) {
    char byte = 0;
    if (::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) == 0 &&
        ::syscall(SYS_setresuid, -1, user, -1) == 0 && ::unshare(CLONE_NEWUSER) == 0 &&
        ::send(socket, &byte, 1, MSG_NOSIGNAL) == 1)
        while (::read(socket, &byte, 1) < 0 && errno == EINTR) continue;
    ::_exit(0);
}

bool write_map(pid_t pid, const char* file, const char* map) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const auto size = static_cast<ssize_t>(std::strlen(map));
    const bool written = ::write(fd, map, static_cast<std::size_t>(size)) == size;
    ::close(fd);
    return written;
}

int take_namespace(pid_t creator, int socket, const IdMaps& maps) {
    char byte = 0;
    if (::recv(socket, &byte, 1, 0) != 1) return -1;
    if (!write_map(creator, "uid_map", maps.users) || !write_map(creator, "gid_map", maps.groups)) return -1;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/ns/user", creator);
    return ::open(path, O_RDONLY | O_CLOEXEC);
}

int make_namespace(const IdMaps& maps, unsigned user) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    const pid_t creator = ::fork();
    if (creator == 0) {
        ::close(pair[0]);
        hold_namespace(user, pair[1]);
    }
    ::close(pair[1]);
    const int made = creator < 0 ? -1 : take_namespace(creator, pair[0], maps);
    ::close(pair[0]);
    if (creator > 0)
        while (::waitpid(creator, nullptr, 0) < 0 && errno == EINTR) continue;
    return made;
}

}  // namespace

bool use_own_user_namespace(lxc_container* container) {
    IdMaps maps;
    if (!read_maps(container, maps)) return false;
    const int made = make_namespace(maps, creator_of(maps, container->name));
    if (made < 0) return false;
    // By descriptor: a guest that restarts itself gets its namespace again, long after the creator has gone.
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", made);
    return container->set_config_item(container, "lxc.namespace.share.user", path);
}

}  // namespace svc::lxc

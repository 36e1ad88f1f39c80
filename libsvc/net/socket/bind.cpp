#include "libsvc/net/socket/bind.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::net {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

FileDescriptor make_socket(int family) {
    const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) throw system_error("cannot make socket", errno);
    return FileDescriptor(fd);
}

sockaddr_un unix_address(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof(address.sun_path))
        throw Error(ErrorCode::invalid_argument, "socket path " + quoted(path.native()) + " is too long");
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    return address;
}

// Removes the socket file of a server that is gone. Throws when a server still answers there.
void clear_place(const std::filesystem::path& path, const sockaddr_un& address) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) return;
    const auto name = quoted(path.filename().native());
    if (!S_ISSOCK(info.st_mode)) throw Error(ErrorCode::conflict, name + " exists and is not a socket");
    const FileDescriptor probe = make_socket(AF_UNIX);
    const bool answers =
        connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
        errno == EAGAIN;
    if (answers) throw Error(ErrorCode::busy, "socket " + name + " is used by another server");
    unlink(path.c_str());
}

// The name of the socket file until it is complete: beside its final name, or that name itself where a longer
// one does not fit into an address.
class Aside {
  public:
    explicit Aside(const std::filesystem::path& place) : place_(place), path_(place) {
        static std::atomic<unsigned> number = 0;
        path_ += "." + std::to_string(getpid()) + "-" + std::to_string(++number);
        if (path_.native().size() >= sizeof(sockaddr_un::sun_path))
            path_ = place_;
        else
            unlink(path_.c_str());  // of a process with our number that was killed in between
    }
    ~Aside() {
        if (path_ != place_) unlink(path_.c_str());
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Another server may have taken the name meanwhile; it keeps it.
    void publish() const {
        if (path_ == place_ ||
            renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place_.c_str(), RENAME_NOREPLACE) == 0)
            return;
        const std::string name = quoted(place_.filename().native());
        if (errno == EEXIST) throw Error(ErrorCode::busy, "socket " + name + " is used by another server");
        if (rename(path_.c_str(), place_.c_str()) != 0)  // a file system that cannot do better
            throw system_error("cannot name socket " + name, errno);
    }

  private:
    const std::filesystem::path place_;
    std::filesystem::path path_;
};

void listen_on(int fd, const std::string& what) {
    if (listen(fd, SOMAXCONN) != 0) throw system_error("cannot listen on " + what, errno);
}

// "[::]:0" into host and port.
std::pair<std::string, std::string> split_address(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos)
        throw Error(ErrorCode::invalid_argument, "address " + quoted(address) + " has no port");
    std::string host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return {host.empty() ? "::" : host, address.substr(colon + 1)};
}

Addresses look_up(const std::string& address, const std::string& host, const std::string& port) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (error != 0)
        throw Error(ErrorCode::invalid_argument, "address " + quoted(address) + ": " + gai_strerror(error));
    return Addresses(found, freeaddrinfo);
}

void set_option(int fd, int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));
}

}  // namespace

// The file is made under another name and renamed when the socket listens: who sees the final name can
// connect.
FileDescriptor bind_unix(const std::filesystem::path& path, unsigned mode, int group) {
    clear_place(path, unix_address(path));
    FileDescriptor fd = make_socket(AF_UNIX);
    const std::string what = "socket " + quoted(path.filename().native());
    const Aside aside(path);
    const sockaddr_un address = unix_address(aside.path());
    // Nobody else may connect before the group is set; then the mode is set below.
    if (fchmod(fd.get(), 0600) != 0) throw system_error("cannot protect " + what, errno);
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw system_error("cannot bind " + what, errno);
    if (group >= 0 && lchown(aside.path().c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(group)) != 0)
        throw system_error("cannot set the group of " + what, errno);
    if (chmod(aside.path().c_str(), mode) != 0) throw system_error("cannot set the mode of " + what, errno);
    listen_on(fd.get(), what);
    aside.publish();
    return fd;
}

namespace {

FileDescriptor bind_internet(const std::string& address, int type) {
    const auto [host, port] = split_address(address);
    const Addresses found = look_up(address, host, port);
    const int fd = socket(found->ai_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 && errno == EAFNOSUPPORT && host == "::") return bind_internet("0.0.0.0:" + port, type);
    if (fd < 0) throw system_error("cannot make socket", errno);
    FileDescriptor owned(fd);
    if (type == SOCK_STREAM) set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (found->ai_family == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(fd, found->ai_addr, found->ai_addrlen) != 0) {
        if (errno == EADDRINUSE) throw Error(ErrorCode::busy, "address " + quoted(address) + " is in use");
        if (errno == EADDRNOTAVAIL && host == "::") return bind_internet("0.0.0.0:" + port, type);
        throw system_error("cannot bind address " + quoted(address), errno);
    }
    return owned;
}

}  // namespace

FileDescriptor bind_tcp(const std::string& address) {
    FileDescriptor fd = bind_internet(address, SOCK_STREAM);
    listen_on(fd.get(), "address " + quoted(address));
    return fd;
}

FileDescriptor bind_udp(const std::string& address) {
    return bind_internet(address, SOCK_DGRAM);
}

std::string local_address(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    char host[NI_MAXHOST] = {};
    char port[NI_MAXSERV] = {};
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (getsockname(socket, plain, &size) != 0) throw system_error("cannot tell a socket's address", errno);
    getnameinfo(plain, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    const bool bracketed = std::strchr(host, ':') != nullptr;
    return (bracketed ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

}  // namespace svc::net

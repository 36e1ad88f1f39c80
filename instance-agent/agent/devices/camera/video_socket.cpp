#include "instance-agent/agent/devices/camera/video_socket.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "instance-agent/agent/files/socket_folder.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/socket/bind.h"

namespace svc::agent {
namespace {

constexpr std::string_view prefix = "camera_video_stream_";
constexpr unsigned video_socket_mode = 0660;
constexpr int rest_ms = 100;
constexpr int rounds_at_once = 16;
constexpr int rounds_to_end = 1 << 16;  // reads all that a closed connection still holds

std::filesystem::path new_path(const std::filesystem::path& folder) {
    return folder / (std::string(prefix) + to_hex(random_bytes(5)));
}

bool may_write(int socket) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == 0 || peer.uid == instance_user || peer.uid == geteuid();
}

bool has_hung_up(int socket) {
    pollfd look{socket, POLLRDHUP, 0};
    return ::poll(&look, 1, 0) == 1 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool is_abandoned(const std::filesystem::path& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.native().size() >= sizeof(address.sun_path)) return false;
    socket.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return probe && connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
           errno == ECONNREFUSED;
}

}  // namespace

void VideoSocket::sweep(const std::filesystem::path& folder) {
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const std::filesystem::path& path = entry->path();
        if (path.filename().native().rfind(prefix, 0) == 0 && is_abandoned(path)) ::unlink(path.c_str());
    }
}

VideoSocket::VideoSocket(const std::filesystem::path& folder, CameraFeed& feed)
    : feed_(feed), path_(new_path(folder)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw system_error("cannot make an event counter", errno);
    listener_ = net::bind_unix(path_, video_socket_mode, -1);
    give_to_user(path_);
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "camera-video");
        serve();
    });
}

VideoSocket::~VideoSocket() {
    eventfd_write(wake_.get(), 1);
    thread_.join();
    ::unlink(path_.c_str());
}

void VideoSocket::serve() {
    for (bool going = true; going;) {
        try {
            going = turn();
        } catch (const std::exception& e) {
            log::warning("camera video stream is broken off", {{"error", e.what()}});
            part();
        }
    }
    part();
}

// False: the thread shall end. Looks at the writer before the listener, so that a writer that has gone does
// not refuse the next one.
bool VideoSocket::turn() {
    std::array<pollfd, 3> all{{{wake_.get(), POLLIN, 0},
                               {rests_ ? -1 : listener_.get(), POLLIN, 0},
                               {writer_ ? writer_.get() : -1, POLLIN, 0}}};
    if (::poll(all.data(), all.size(), rests_ ? rest_ms : -1) < 0 && errno != EINTR)
        throw system_error("cannot wait for a writer", errno);
    rests_ = false;
    if (all[0].revents != 0) return false;
    if (all[2].revents != 0) read_some(rounds_at_once);
    if (all[1].revents != 0) accept_one();
    return true;
}

void VideoSocket::accept_one() {
    FileDescriptor peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (peer)
        admit(std::move(peer));
    else
        rests_ = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
}

void VideoSocket::admit(FileDescriptor peer) {
    if (writer_ && has_hung_up(writer_.get())) read_some(rounds_to_end);
    if (writer_ || !may_write(peer.get())) return;
    feed_.begin_stream();
    writer_ = std::move(peer);
}

void VideoSocket::read_some(int rounds) {
    while (writer_ && rounds-- > 0 && read_once()) continue;
}

// False: nothing to read now.
bool VideoSocket::read_once() {
    StreamRoom room = feed_.room();
    const ssize_t got = recv(writer_.get(), room.data, room.size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        part();
        return false;
    }
    feed_.took(std::move(room), static_cast<std::size_t>(got));
    return true;
}

void VideoSocket::part() {
    if (!writer_) return;
    writer_.reset();
    feed_.end_stream();
}

}  // namespace svc::agent

#include "instance-agent/streamer/guest/camera_feed.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr int stop_check_ms = 100;

FileDescriptor connect_to(const std::filesystem::path& path) {
    FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw system_error("cannot reach the camera's socket", errno);
    return fd;
}

}  // namespace

CameraFeed::CameraFeed(const std::filesystem::path& socket)
    : thread_([this, socket](const std::stop_token& stop) { run(stop, socket); }) {}

CameraFeed::~CameraFeed() = default;

void CameraFeed::take(const std::uint8_t* pixels, std::size_t size) {
    std::lock_guard lock(mutex_);
    newest_.assign(pixels, pixels + size);
    fresh_ = true;
    changed_.notify_one();
}

void CameraFeed::run(const std::stop_token& stop, const std::filesystem::path& path) try {
    const FileDescriptor socket = connect_to(path);
    std::vector<std::uint8_t> frame;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, stop, [this] { return fresh_; });
            if (stop.stop_requested()) return;
            std::swap(frame, newest_);
            fresh_ = false;
        }
        if (!send(stop, socket.get(), frame)) return;
    }
} catch (const Error& e) {
    log::warning("the client's camera does not reach the guest", {{"error", e.what()}});
}

bool CameraFeed::send(const std::stop_token& stop, int socket, const std::vector<std::uint8_t>& frame) const {
    std::size_t done = 0;
    while (done < frame.size() && !stop.stop_requested()) {
        const ssize_t sent = ::send(socket, frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
        if (sent > 0) {
            done += static_cast<std::size_t>(sent);
        } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            return false;
        } else {
            pollfd wait{socket, POLLOUT, 0};
            poll(&wait, 1, stop_check_ms);
        }
    }
    return done == frame.size();
}

}  // namespace svc::streamer

#include "instance-agent/streamer/media/video/frame_socket.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "instance-agent/streamer/media/video/frame_reader.h"
#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Bound under another name and renamed after listen(), so that a guest that sees the socket can connect.
FileDescriptor listen_at(const std::string& path) {
    const std::string aside = path + "." + std::to_string(getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (aside.size() >= sizeof(address.sun_path))
        throw Error(ErrorCode::invalid_argument, "the frame socket's path is too long");
    std::memcpy(address.sun_path, aside.c_str(), aside.size() + 1);
    FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) throw system_error("frame socket", errno);
    unlink(aside.c_str());
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        chmod(aside.c_str(), 0660) != 0 || listen(fd.get(), 4) != 0 ||
        rename(aside.c_str(), path.c_str()) != 0) {
        const int error = errno;
        unlink(aside.c_str());
        throw system_error("frame socket", error);
    }
    return fd;
}

ino_t inode_of(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::shared_ptr<const RawFrame> black_frame(FrameSocket::Shape shape) {
    auto frame = std::make_shared<RawFrame>();
    frame->width = static_cast<std::uint32_t>(shape.width);
    frame->height = static_cast<std::uint32_t>(shape.height);
    frame->stride = frame->width * 4;
    frame->pixels = std::make_unique<std::uint8_t[]>(std::size_t{frame->stride} * frame->height);
    return frame;
}

}  // namespace

class FrameSocket::Loop {
  public:
    Loop(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace, int wake)
        : sink_(std::move(sink)),
          pace_(std::move(pace)),
          wake_(wake),
          interval_(Clock::duration(1s) / shape.fps),
          listener_(listen_at(path)),
          inode_(inode_of(path)),
          newest_(black_frame(shape)) {}

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            wait();
            if (stop.stop_requested()) return;
            if (is_due()) hand_out();
        }
    }
    bool owns(const std::string& path) const { return inode_ != 0 && inode_of(path) == inode_; }

  private:
    // Half a millisecond early is not worth another round of poll().
    bool is_due() const {
        const auto now = Clock::now();
        return now - handed_out_ + 500us >= interval_ && pace_->is_wanted(now);
    }
    int milliseconds_left() const {
        const auto now = Clock::now(), due = std::max(handed_out_ + interval_, pace_->next(now));
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
        return static_cast<int>(std::clamp<long>(left, 0, 1000));
    }
    void hand_out() {
        handed_out_ = Clock::now();
        pace_->sent(handed_out_);
        sink_(newest_);
    }

    void wait() {
        std::array<pollfd, 3> polled{
            {{wake_, POLLIN, 0}, {listener_.get(), POLLIN, 0}, {writer_.get(), POLLIN, 0}}};
        if (poll(polled.data(), writer_ ? 3 : 2, is_due() ? 0 : milliseconds_left()) <= 0) return;
        if (polled[0].revents != 0) drain_wake();
        if (writer_ && polled[2].revents != 0) read_writer();
        while (writer_ && (polled[2].revents & POLLHUP) != 0)
            read_writer();  // frees the place for the next writer
        if (polled[1].revents != 0) accept_writer();
    }
    void drain_wake() {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t read_bytes = read(wake_, &count, sizeof(count));
    }
    void accept_writer() {
        FileDescriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!fd || writer_) return;
        writer_ = std::move(fd);
        reader_ = FrameReader();
    }
    void read_writer() {
        switch (reader_.read_from(writer_.get())) {
            case FrameReader::Result::nothing:
                return;
            case FrameReader::Result::closed:
                writer_.reset();
                return;
            case FrameReader::Result::frame:
                newest_ = reader_.take();
                pace_->changed(Clock::now());
        }
    }

    Sink sink_;
    std::shared_ptr<FramePace> pace_;
    int wake_;
    Clock::duration interval_;
    FileDescriptor listener_, writer_;
    ino_t inode_;
    FrameReader reader_;
    std::shared_ptr<const RawFrame> newest_;
    Clock::time_point handed_out_{};
};

FrameSocket::FrameSocket(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace)
    : path_(path), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw system_error("frame socket", errno);
    loop_ = std::make_unique<Loop>(path, shape, std::move(sink), std::move(pace), wake_.get());
    thread_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "frame-socket");
        loop_->run(stop);
    });
}

FrameSocket::~FrameSocket() {
    thread_.request_stop();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
    thread_.join();
    if (loop_->owns(path_)) unlink(path_.c_str());
}

void FrameSocket::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

}  // namespace svc::streamer

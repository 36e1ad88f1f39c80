#include "instance-agent/streamer/media/video/frame_feed.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

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

using Feeds = std::map<std::string, std::weak_ptr<FrameFeed>>;

// Of the process, as the paths are.
Guarded<Feeds>& living_feeds() {
    static Guarded<Feeds> feeds;
    return feeds;
}

const std::shared_ptr<const RawFrame>& frame_for(const FrameFeed::Viewer& viewer,
                                                 const std::shared_ptr<const RawFrame>& newest) {
    return newest ? newest : viewer.first;
}

// Half a millisecond early is not worth another round of poll().
bool is_due(const FrameFeed::Viewer& viewer) {
    const auto now = FrameFeed::Clock::now();
    return now - viewer.handed_out + 500us >= viewer.interval && viewer.pace->is_wanted(now);
}

}  // namespace

std::shared_ptr<FrameFeed> FrameFeed::at(const std::string& path) {
    return living_feeds().with([&](Feeds& feeds) {
        auto& known = feeds[path];
        auto feed = known.lock();
        if (feed && feed->owns_path()) return feed;
        feed = std::make_shared<FrameFeed>(path);
        known = feed;
        return feed;
    });
}

FrameFeed::FrameFeed(const std::string& path)
    : path_(path),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listener_(listen_at(path)),
      inode_(inode_of(path)) {
    if (!wake_) throw system_error("frame socket", errno);
    thread_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "frame-socket");
        run(stop);
    });
}

FrameFeed::~FrameFeed() {
    thread_.request_stop();
    wake();
    thread_.join();
    if (owns_path()) unlink(path_.c_str());
}

void FrameFeed::add(const std::shared_ptr<Viewer>& viewer) {
    viewers_.with([&](Viewers& all) { all.push_back(viewer); });
    wake();
}

void FrameFeed::remove(const std::shared_ptr<Viewer>& viewer) {
    viewers_.with([&](Viewers& all) { std::erase(all, viewer); });
}

void FrameFeed::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void FrameFeed::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        wait();
        if (!stop.stop_requested()) hand_out();
    }
}

int FrameFeed::milliseconds_left() const {
    const auto now = Clock::now();
    auto due = now + 1s;
    viewers_.with([&](const Viewers& all) {
        for (const auto& viewer : all)
            if (frame_for(*viewer, newest_))
                due = std::min(due, is_due(*viewer) ? now
                                                    : std::max(viewer->handed_out + viewer->interval,
                                                               viewer->pace->next(now)));
    });
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
    return static_cast<int>(std::max<long>(left, 0));
}

void FrameFeed::hand_out() {
    viewers_.with([&](const Viewers& all) {
        for (const auto& viewer : all) {
            const auto frame = frame_for(*viewer, newest_);
            if (!frame || !is_due(*viewer)) continue;
            viewer->handed_out = Clock::now();
            viewer->pace->sent(viewer->handed_out);
            viewer->sink(frame);
        }
    });
}

void FrameFeed::wait() {
    std::array<pollfd, 3> polled{
        {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}, {writer_.get(), POLLIN, 0}}};
    if (poll(polled.data(), writer_ ? 3 : 2, milliseconds_left()) <= 0) return;
    if (polled[0].revents != 0) {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t read_bytes = read(wake_.get(), &count, sizeof(count));
    }
    if (writer_ && polled[2].revents != 0) read_writer();
    while (writer_ && (polled[2].revents & POLLHUP) != 0)
        read_writer();  // frees the place for the next writer
    if (polled[1].revents != 0) accept_writer();
}

void FrameFeed::accept_writer() {
    FileDescriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd || writer_) return;
    writer_ = std::move(fd);
    reader_ = FrameReader();
}

void FrameFeed::read_writer() {
    switch (reader_.read_from(writer_.get())) {
        case FrameReader::Result::nothing:
            return;
        case FrameReader::Result::closed:
            writer_.reset();
            return;
        case FrameReader::Result::frame:
            newest_ = reader_.take();
            viewers_.with([](const Viewers& all) {
                for (const auto& viewer : all) viewer->pace->changed(Clock::now());
            });
    }
}

bool FrameFeed::owns_path() const {
    return inode_ != 0 && inode_of(path_) == inode_;
}

}  // namespace svc::streamer

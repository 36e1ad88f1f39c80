#include "instance-agent/streamer/media/video/frame_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

constexpr auto patience_for_news = 1s;

using Servers = std::map<std::string, std::weak_ptr<FrameServer>>;

// Of the process, as the paths are.
Guarded<Servers>& living_servers() {
    static Guarded<Servers> servers;
    return servers;
}

// Half a millisecond early is not worth another round of poll().
bool is_due(const FrameServer::Viewer& viewer) {
    const auto now = FrameServer::Clock::now();
    return now - viewer.handed_out + 500us >= viewer.interval && viewer.pace->is_wanted(now);
}

}  // namespace

std::shared_ptr<FrameServer> FrameServer::at(const std::string& path,
                                             const std::shared_ptr<GuestDisplay>& display) {
    std::shared_ptr<FrameServer> before;  // let go of after the lock, which its end takes
    return living_servers().with([&](Servers& servers) {
        auto& known = servers[path];
        before = known.lock();
        if (before && before->listener_->owns_name()) return before;
        auto server = std::make_shared<FrameServer>(path, display);
        known = server;
        return server;
    });
}

FrameServer::FrameServer(const std::string& path, const std::shared_ptr<GuestDisplay>& display) {
    listener_.emplace(path, SOCK_STREAM, "frame socket");
    thread_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "frame-socket");
        run(stop);
    });
    if (!display) return;
    // What comes at once is what the display showed last; its program may have stopped to draw since.
    guest_.emplace(display, [this, here = std::this_thread::get_id()](std::shared_ptr<const RawFrame> frame) {
        show(std::move(frame), std::this_thread::get_id() == here);
    });
}

FrameServer::~FrameServer() {
    guest_.reset();
    thread_.request_stop();
    wake();
    thread_.join();
    // Not while another one takes the name.
    living_servers().with([&](const Servers&) { listener_.reset(); });
}

void FrameServer::show(std::shared_ptr<const RawFrame> frame, bool old) {
    Shown shown{std::move(frame), old};
    shown_.with([&](Shown& now) { std::swap(now, shown); });  // an older one is let go after the lock
    wake();
}

void FrameServer::add(const std::shared_ptr<Viewer>& viewer) {
    viewers_.with([&](Viewers& all) { all.push_back(viewer); });
    wake();
}

void FrameServer::remove(const std::shared_ptr<Viewer>& viewer) {
    viewers_.with([&](Viewers& all) { std::erase(all, viewer); });
}

void FrameServer::wake() {
    wake_.wake();
}

void FrameServer::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        wait();
        if (stop.stop_requested()) return;
        take_shown();
        hand_out();
    }
}

int FrameServer::milliseconds_left() const {
    const auto now = Clock::now();
    auto due = old_until_ > now ? std::min(now + 1s, old_until_) : now + 1s;
    viewers_.with([&](const Viewers& all) {
        for (const auto& viewer : all)
            if (frame_for(*viewer))
                due = std::min(due, is_due(*viewer) ? now
                                                    : std::max(viewer->handed_out + viewer->interval,
                                                               viewer->pace->next(now)));
    });
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
    return static_cast<int>(std::max<long>(left, 0));
}

void FrameServer::hand_out() {
    viewers_.with([&](const Viewers& all) {
        for (const auto& viewer : all) {
            const auto frame = frame_for(*viewer);
            if (!frame || !is_due(*viewer)) continue;
            viewer->handed_out = Clock::now();
            viewer->pace->sent(viewer->handed_out);
            viewer->sink(frame);
        }
    });
}

void FrameServer::wait() {
    std::array<pollfd, 3> polled{
        {{wake_.fd(), POLLIN, 0}, {listener_->fd(), POLLIN, 0}, {writer_.get(), POLLIN, 0}}};
    if (poll(polled.data(), writer_ ? 3 : 2, milliseconds_left()) <= 0) return;
    if (polled[0].revents != 0) wake_.drain();
    if (writer_ && polled[2].revents != 0) read_writer();
    while (writer_ && (polled[2].revents & POLLHUP) != 0)
        read_writer();  // frees the place for the next writer
    if (polled[1].revents != 0) accept_writer();
}

void FrameServer::accept_writer() {
    FileDescriptor fd = listener_->accept();
    if (!fd || writer_) return;
    writer_ = std::move(fd);
    reader_ = FrameReader();
}

void FrameServer::read_writer() {
    switch (reader_.read_from(writer_.get())) {
        case FrameReader::Result::nothing:
            return;
        case FrameReader::Result::closed:
            writer_.reset();
            return;
        case FrameReader::Result::frame:
            take(reader_.take());
    }
}

void FrameServer::take_shown() {
    Shown shown = shown_.with([](Shown& now) { return std::exchange(now, {}); });
    if (shown.frame) take(std::move(shown.frame), shown.old);
}

void FrameServer::take(std::shared_ptr<const RawFrame> frame, bool old) {
    newest_ = std::move(frame);
    old_until_ = old ? Clock::now() + patience_for_news : Clock::time_point();
    viewers_.with([](const Viewers& all) {
        for (const auto& viewer : all) viewer->pace->changed(Clock::now());
    });
}

// A viewer that has nothing to show meanwhile waits for a picture that is not old.
std::shared_ptr<const RawFrame> FrameServer::frame_for(const Viewer& viewer) const {
    if (!newest_) return viewer.first;
    return viewer.first || Clock::now() >= old_until_ ? newest_ : nullptr;
}

}  // namespace svc::streamer

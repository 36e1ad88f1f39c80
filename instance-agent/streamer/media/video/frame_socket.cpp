#include "instance-agent/streamer/media/video/frame_socket.h"

#include <utility>

#include "instance-agent/streamer/media/video/frame_feed.h"

namespace svc::streamer {
namespace {

std::shared_ptr<const RawFrame> black_frame(FrameSocket::Shape shape) {
    auto frame = std::make_shared<RawFrame>();
    frame->width = static_cast<std::uint32_t>(shape.width);
    frame->height = static_cast<std::uint32_t>(shape.height);
    frame->stride = frame->width * 4;
    frame->pixels = std::make_unique<std::uint8_t[]>(std::size_t{frame->stride} * frame->height);
    return frame;
}

}  // namespace

class FrameSocket::Place {
  public:
    Place(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace, FirstFrame first)
        : feed_(FrameFeed::at(path)), viewer_(std::make_shared<FrameFeed::Viewer>()) {
        viewer_->sink = std::move(sink);
        viewer_->pace = std::move(pace);
        viewer_->interval = FrameFeed::Clock::duration(std::chrono::seconds(1)) / shape.fps;
        if (first == FirstFrame::black) viewer_->first = black_frame(shape);
        feed_->add(viewer_);
    }
    ~Place() { feed_->remove(viewer_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    void wake() { feed_->wake(); }

  private:
    std::shared_ptr<FrameFeed> feed_;
    std::shared_ptr<FrameFeed::Viewer> viewer_;
};

FrameSocket::FrameSocket(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace,
                         FirstFrame first)
    : place_(std::make_unique<Place>(path, shape, std::move(sink), std::move(pace), first)) {}

FrameSocket::~FrameSocket() = default;

void FrameSocket::wake() {
    place_->wake();
}

}  // namespace svc::streamer

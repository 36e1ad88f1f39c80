#include "instance-agent/streamer/media/video/frame_socket.h"

#include <utility>

#include "instance-agent/streamer/media/video/frame_server.h"

namespace svc::streamer {
namespace {

std::shared_ptr<const RawFrame> black_frame(FrameSocket::Shape shape) {
    auto frame = std::make_shared<RawFrame>();
    frame->width = static_cast<std::uint32_t>(shape.width);
    frame->height = static_cast<std::uint32_t>(shape.height);
    frame->stride = frame->width * 4;
    frame->pixels = std::make_shared<std::uint8_t[]>(std::size_t{frame->stride} * frame->height);
    return frame;
}

}  // namespace

class FrameSocket::Place {
  public:
    Place(std::shared_ptr<FrameServer> server, std::shared_ptr<FrameServer::Viewer> viewer)
        : server_(std::move(server)), viewer_(std::move(viewer)) {
        server_->add(viewer_);
    }
    ~Place() { server_->remove(viewer_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    FrameServer& server() const { return *server_; }

  private:
    std::shared_ptr<FrameServer> server_;
    std::shared_ptr<FrameServer::Viewer> viewer_;
};

FrameSocket::FrameSocket(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace,
                         FirstFrame first, const std::shared_ptr<GuestDisplay>& display) {
    auto viewer = std::make_shared<FrameServer::Viewer>();
    viewer->sink = std::move(sink);
    viewer->pace = std::move(pace);
    viewer->interval = FrameServer::Clock::duration(std::chrono::seconds(1)) / shape.fps;
    if (first == FirstFrame::black) viewer->first = black_frame(shape);
    place_ = std::make_unique<Place>(FrameServer::at(path, display), std::move(viewer));
}

FrameSocket::~FrameSocket() = default;

void FrameSocket::show(std::shared_ptr<const RawFrame> frame) {
    place_->server().show(std::move(frame));
}

void FrameSocket::wake() {
    place_->server().wake();
}

}  // namespace svc::streamer

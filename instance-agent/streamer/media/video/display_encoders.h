#pragma once
// The encoders of the display that are in use: clients that agreed on one codec share one.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "instance-agent/streamer/media/video/display_encoder.h"

namespace svc::streamer {

// Thread-safe.
class DisplayEncoders {
  public:
    struct Wish {
        MediaPlaces places;
        PictureShape shape;
        VideoCodec codec = VideoCodec::h264;
        VideoEncoder encoder = VideoEncoder::software;
        std::uint32_t kbps = 0;  // of a new one
    };
    // One that encodes this already, else a new one. Throws unsupported, unavailable.
    std::shared_ptr<DisplayEncoder> get(const Wish& wish);

  private:
    struct Entry {
        std::string key;
        std::weak_ptr<DisplayEncoder> encoder;
    };
    std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace svc::streamer

#pragma once
// A picture in memory: RGBA, line by line from the top, without gaps.
#include <memory>

#include "instance-agent/agent/devices/camera/resolution.h"

namespace svc::agent {

// The pixels of a new picture are undefined.
class Picture {
  public:
    explicit Picture(Resolution size) : size_(size), pixels_(new std::uint32_t[size.pixels()]) {}

    Resolution size() const { return size_; }
    std::uint32_t* pixels() { return pixels_.get(); }
    const std::uint32_t* pixels() const { return pixels_.get(); }

  private:
    Resolution size_;
    std::unique_ptr<std::uint32_t[]> pixels_;
};
using PicturePtr = std::shared_ptr<const Picture>;

}  // namespace svc::agent

#pragma once
// Wakes a thread that polls.
#include "libsvc/base/file.h"

namespace svc::streamer {

// Thread-safe.
class Wake {
  public:
    Wake();  // throws Error
    void wake() const;
    void drain() const;                      // until the next wake() nothing is readable
    int fd() const { return event_.get(); }  // readable after wake()

  private:
    FileDescriptor event_;
};

}  // namespace svc::streamer

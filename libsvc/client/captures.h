#pragma once
// What an instance shows (API extensions instance_screenshots, instance_recordings; docs/captures.md). Each
// call blocks until all bytes have come, and throws what the service answers; `sink` gets the bytes as they
// come, may throw, and what it throws passes. One thread at a time for one ApiClient.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/client/api_client.h"

namespace svc {

// A PNG.
void take_screenshot(ApiClient& client, std::string_view instance,
                     std::function<void(std::string_view)> sink);
// An MP4 of fragments, each playable when it has come. `length`: 1 s to longest_recording.
void record_screen(ApiClient& client, std::string_view instance, std::chrono::seconds length,
                   std::function<void(std::string_view)> sink);

// How much of a recording that was broken off can be kept: up to its last whole fragment.
class WholeFragments {
  public:
    void take(std::string_view bytes);              // the next ones of the file, which may be hostile
    std::uint64_t bytes() const { return whole_; }  // from the beginning of the file; 0: no fragment is whole

  private:
    bool start_box();

    std::string head_;
    std::uint64_t at_ = 0, left_ = 0, whole_ = 0;
    bool inside_ = false, media_ = false;
};

}  // namespace svc

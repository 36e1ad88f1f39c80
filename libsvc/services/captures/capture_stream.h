#pragma once
// The bytes of a screenshot or a recording, on their way from the streamer in an instance.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/model/instances/capture.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// What an instance may take of the service for one capture: the bytes come from a guest.
struct CaptureLimits {
    std::chrono::milliseconds silence =
        std::chrono::seconds(20);  // until the first bytes, and between two pieces
    std::chrono::milliseconds time = std::chrono::seconds(60);
    std::uint64_t bytes = 64U << 20;
    static CaptureLimits of(const CaptureRequest& request);
};

// One thread at a time, in which SIGPIPE must be ignored or blocked. The destructor ends the capture.
class CaptureStream {
  public:
    struct Parts {
        std::unique_ptr<ExecProcess> process;  // leads to the streamer's socket
        std::string noun;                      // "container ab12", for errors
        CaptureLimits limits;
        std::shared_ptr<const FileDescriptor> stopped;  // readable when the service ends
        std::shared_ptr<void> turn;                     // kept until all has come
        std::shared_ptr<void> use;                      // kept as long as this
    };
    explicit CaptureStream(Parts parts);

    // Asks the streamer, and returns when its first bytes are here. Throws invalid_argument where no streamer
    // answers; busy; unavailable.
    void begin(const CaptureRequest& request);
    // Waits for bytes. "": all have come. Throws unavailable where the streamer breaks off or a limit is hit.
    std::string read(std::size_t at_most);

  private:
    void ask(const std::string& line);
    void await_some();
    void await_bytes();
    void read_output();
    void drop_errors();
    [[noreturn]] void broken_off() const;
    [[noreturn]] void fail(const std::string& why) const;

    Parts parts_;
    std::chrono::steady_clock::time_point end_, silent_since_{};
    CaptureBlocks blocks_;
    std::string waiting_;  // bytes that were not read yet
    std::uint64_t received_ = 0, dropped_ = 0;
    bool answered_ = false, errors_open_ = true;
};

}  // namespace svc

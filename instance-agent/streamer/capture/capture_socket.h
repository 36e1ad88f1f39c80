#pragma once
// The socket at which the service asks for screenshots and recordings (docs/captures.md). Only root of the
// guest may connect.
#include <atomic>
#include <filesystem>
#include <stop_token>
#include <thread>

#include "instance-agent/streamer/capture/captures.h"
#include "instance-agent/streamer/threads/wake.h"
#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/model/instances/capture.h"

namespace svc::streamer {

// Thread-safe. One recording at a time; a few screenshots beside it. Without a client it does nothing, and
// clients of the stream do not notice it.
class CaptureSocket {
  public:
    static constexpr std::size_t at_once = 3, waiting = 8;  // requests; further ones are refused
    static constexpr std::chrono::seconds patience{15};     // with a client that does not ask, or read

    CaptureSocket(const std::filesystem::path& path, Captures captures);  // throws where it cannot listen
    ~CaptureSocket();  // ends what goes on, and removes the socket
    CaptureSocket(const CaptureSocket&) = delete;
    CaptureSocket& operator=(const CaptureSocket&) = delete;

    // What is captured from now on. A recording has one size: it ends when that changes.
    void show(const CaptureSetup& setup);

  private:
    struct Shown {
        CaptureSetup setup;
        std::stop_source changed{};
    };
    void accept(const std::stop_token& stop);
    void serve(const FileDescriptor& client);
    void capture(const CaptureRequest& request, const ByteSink& sink);

    const std::filesystem::path path_;
    const Captures captures_;
    FileDescriptor listener_;
    Wake wake_;
    Guarded<Shown> shown_;
    std::stop_source ending_;
    std::atomic<bool> recording_ = false;
    ThreadPool workers_;
    std::jthread thread_;  // last: it uses the rest
};

}  // namespace svc::streamer

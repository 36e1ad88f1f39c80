#pragma once
// The client's camera on its way to the agent's camera socket (docs/camera.md).
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace svc::streamer {

// Thread-safe. The newest frame counts: one that has not gone out when the next comes is dropped. When the
// socket cannot be reached or breaks, nothing more is sent.
class CameraFeed {
  public:
    explicit CameraFeed(const std::filesystem::path& socket);
    ~CameraFeed();
    CameraFeed(const CameraFeed&) = delete;
    CameraFeed& operator=(const CameraFeed&) = delete;
    void take(const std::uint8_t* pixels, std::size_t size);

  private:
    void run(const std::stop_token& stop, const std::filesystem::path& path);
    bool send(const std::stop_token& stop, int socket, const std::vector<std::uint8_t>& frame) const;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<std::uint8_t> newest_;
    bool fresh_ = false;
    std::jthread thread_;  // last: starts when all else is there
};

}  // namespace svc::streamer

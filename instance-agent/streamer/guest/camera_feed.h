#pragma once
// Sends frames of the client's camera to the agent's camera socket (docs/camera.md).
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace svc::streamer {

// Thread-safe. A frame that was not sent when the next one comes is dropped. After an error of the socket
// nothing more is sent.
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
    std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace svc::streamer

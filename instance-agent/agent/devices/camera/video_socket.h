#pragma once
// The socket for video: a writer sends raw frames one after another, one writer at a time.
#include <filesystem>
#include <thread>

#include "instance-agent/agent/devices/camera/camera_feed.h"

namespace svc::agent {

// Serves from construction to destruction on a thread of its own. The peers of the control API may connect; a
// second writer is closed at once. The feed outlives it. Throws Error when the socket cannot be made.
class VideoSocket {
  public:
    VideoSocket(const std::filesystem::path& folder, CameraFeed& feed);
    ~VideoSocket();
    VideoSocket(const VideoSocket&) = delete;
    VideoSocket& operator=(const VideoSocket&) = delete;

    const std::filesystem::path& path() const { return path_; }

    // Removes sockets that agents before this one have left in the folder.
    static void sweep(const std::filesystem::path& folder);

  private:
    void serve();
    bool turn();
    void accept_one();
    void admit(FileDescriptor peer);
    void read_some(int rounds);
    bool read_once();
    void part();

    CameraFeed& feed_;
    const std::filesystem::path path_;
    FileDescriptor wake_, listener_, writer_;
    bool rests_ = false;  // out of descriptors: does not accept for a moment
    std::thread thread_;
};

}  // namespace svc::agent

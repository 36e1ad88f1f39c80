#pragma once
// Receives datagrams on a thread of its own.
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libsvc/base/file.h"

namespace svc::metrics_agent {

// Receives from its construction on. `take` is called on that thread, one datagram at a time, until the
// destructor has joined the thread.
class UdpReceiver {
  public:
    using Take = std::function<void(std::string_view datagram, std::string_view source)>;
    UdpReceiver(const std::string& address, Take take);  // "0.0.0.0:8095"; throws busy when taken
    ~UdpReceiver();
    UdpReceiver(const UdpReceiver&) = delete;
    UdpReceiver& operator=(const UdpReceiver&) = delete;

  private:
    void run(const std::stop_token& stop) const;
    void receive_some(std::vector<char>& datagram) const;

    FileDescriptor socket_;
    FileDescriptor wake_;
    Take take_;
    std::jthread thread_;
};

}  // namespace svc::metrics_agent

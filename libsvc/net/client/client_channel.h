#pragma once
// Internal to the folder net: a connection to a server that blocks, with timeouts.
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "libsvc/net/client/target.h"
#include "libsvc/net/socket/byte_stream.h"

namespace svc::net {

// One thread may read while another one writes.
class ClientChannel {
  public:
    using Milliseconds = std::chrono::milliseconds;

    // Connects, through the proxy where there is one, and makes the TLS handshake. `timeout` is of each step.
    // Throws unavailable, soon after `stop` was requested as well: a step that waits for the network ends
    // then. What waits for the answer to a host name, or for a Unix socket, does not.
    ClientChannel(Target target, Milliseconds timeout, const std::stop_token& stop = {});
    ClientChannel(const ClientChannel&) = delete;
    ClientChannel& operator=(const ClientChannel&) = delete;

    // Returns the number of bytes read: 0 at the end of the stream, nothing on timeout. Throws unavailable
    // when the connection breaks.
    std::optional<std::size_t> read(char* into, std::size_t size, Milliseconds timeout);
    // `timeout` is for a pause without a byte moving. Throws unavailable.
    void write(std::string_view data, Milliseconds timeout);
    void shut_down();
    void interrupt();  // from any thread: a read or write that waits fails, and every later one
    int descriptor() const { return socket_.get(); }
    const Target& target() const { return target_; }
    std::string host() const;  // of the Host header

  private:
    void greet(Milliseconds timeout);
    std::string told() const;

    const Target target_;  // the stream keeps a reference
    FileDescriptor socket_;
    std::mutex
        mutex_;  // around each call of the stream, which OpenSSL wants one at a time; not held while waiting
    ByteStream stream_;
};

}  // namespace svc::net

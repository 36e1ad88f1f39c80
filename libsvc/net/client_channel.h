#pragma once
// Internal to this folder: blocking bytes to a server, and one HTTP exchange over them, without cpp-httplib.
#include <chrono>
#include <mutex>

#include "libsvc/net/byte_stream.h"
#include "libsvc/net/client.h"
#include "libsvc/net/input_buffer.h"

namespace svc::net {

// One thread may read while another writes.
class ClientChannel {
  public:
    using Milliseconds = std::chrono::milliseconds;

    // Connects, and greets by TLS. Throws unavailable.
    ClientChannel(Target target, Milliseconds timeout);
    ClientChannel(const ClientChannel&) = delete;
    ClientChannel& operator=(const ClientChannel&) = delete;

    // Bytes read, 0 at the end of the stream; nothing on timeout. Throws unavailable when the connection
    // breaks.
    std::optional<std::size_t> read(char* into, std::size_t size, Milliseconds timeout);
    // `timeout` is for a pause without a byte moving. Throws unavailable.
    void write(std::string_view data, Milliseconds timeout);
    void shut_down();
    int descriptor() const { return socket_.get(); }
    const Target& target() const { return target_; }
    std::string host() const;  // of the Host header

  private:
    void greet(Milliseconds timeout);

    const Target target_;  // the stream keeps a reference
    FileDescriptor socket_;
    std::mutex mutex_;  // OpenSSL wants one call at a time; waiting happens outside of it
    ByteStream stream_;
};

// Sends `request` (of a source only with its length) and reads the response up to its end; after a 101 up to
// the header's end. What came after it stays in `in`. A source is not drained when the server answers early.
// Throws unavailable, and what the source throws.
ClientReply exchange(ClientChannel& channel, const ClientRequest& request, InputBuffer& in);

}  // namespace svc::net

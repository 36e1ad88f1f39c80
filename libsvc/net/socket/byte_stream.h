#pragma once
// Internal to the folder net: reads and writes a non-blocking socket, plain or by TLS, for servers and
// clients alike.
#include <memory>
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/tls/tls.h"

struct ssl_st;

namespace svc::net {

enum class IoState { done, want_read, want_write, ended, failed };

struct IoResult {
    IoState state = IoState::failed;
    std::size_t bytes = 0;
};

// Does not own the socket. Not thread-safe. Never blocks. A plain socket raises no SIGPIPE; for TLS the
// process must ignore it.
class ByteStream {
  public:
    explicit ByteStream(int socket) : socket_(socket) {}
    ByteStream(int socket, const TlsContext& server_side);
    // Plain on a Unix socket and without target.tls. Keeps a reference to the target.
    ByteStream(int socket, const Target& client_side);
    ~ByteStream();
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    IoResult handshake();  // of TLS; on `want_*` wait for the socket and call again
    IoResult read(char* into, std::size_t size);
    IoResult write(const char* data, std::size_t size, bool more_follows = false);
    void shut_down();  // closes our direction
    bool is_tls() const { return static_cast<bool>(ssl_); }
    std::optional<ClientCertificate> peer_certificate() const;
    bool refused_peer() const;  // after a failed handshake: because of the peer's certificate
    // What TLS said of the last failure: "tlsv13 alert certificate required". "": nothing.
    const std::string& failure() const { return failure_; }

  private:
    IoResult ssl_result(int result);

    struct SslFree {
        void operator()(ssl_st* ssl) const;
    };
    int socket_;
    std::shared_ptr<const TlsContext::State> server_side_;  // kept until the handshake is done
    std::unique_ptr<ssl_st, SslFree> ssl_;
    std::string failure_;
};

}  // namespace svc::net

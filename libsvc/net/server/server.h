#pragma once
// The HTTP/1.1 server: Unix, TCP and TLS connections of one type, a few I/O threads for all of them, handlers
// on a pool. Asio and Beast stay inside this folder's .cpp files.
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc {

struct ServerLimits {
    std::size_t header_bytes = 32U << 10;
    std::size_t header_count = 100;
    std::chrono::milliseconds header_time{
        10'000};  // from connect or first byte to the end of the header; TLS too
    std::chrono::milliseconds body_idle_time{30'000};  // between two pieces of a body
    std::chrono::milliseconds keep_alive_time{75'000};
    std::chrono::milliseconds write_idle_time{60'000};
    // Bytes a second that a client sends of a body, or takes of a response, on average; 0: no limit. All its
    // pauses in one body are no longer than body_idle_time and the time that its bytes take at this rate.
    std::size_t min_rate = 16U << 10;
    std::size_t max_connections = 12'000;   // one more is closed at once
    std::size_t reserved_connections = 64;  // of these, for Standing::reserved; a quarter at most
    std::size_t max_websockets = 12'000;
    std::size_t uploads_at_once = 64;
    // Bytes of requests that are read into memory, until they are answered; a body that does not fit becomes
    // a fault (exhausted). Peers that are not trusted have less, all together and each. A quarter of all is
    // for Standing::reserved.
    std::size_t buffered_bytes = 64U << 20;
    std::size_t untrusted_bytes = 16U << 20;
    std::size_t untrusted_bytes_each = 2U << 20;
    std::size_t reply_bytes =
        128U << 20;  // of large replies on their way, a quarter to those not trusted; more requests wait
    WebSocketLimits websocket;
};

// What a peer may take of a server. The resources that are kept for the last one are never given to others.
enum class Standing {
    untrusted,  // so many connections of all of them and of each, little memory
    trusted,
    reserved,
};

// What the peers of a listening socket may take. Both functions run on the acceptor's thread.
struct ListenerLimits {
    std::function<Standing(const Peer&)> standing = {};  // asked again after a TLS handshake; empty: reserved
    std::size_t untrusted = static_cast<std::size_t>(-1);  // connections of all that are not trusted
    std::size_t each = static_cast<std::size_t>(-1);       // and of each of them
    std::function<std::string(const Peer&)> source = {};   // who is one of them; empty: user, or network_of()
};

// What happens with a request whose header is complete.
struct RequestPlan {
    Dispatch dispatch = Dispatch::on_pool;
    std::uint64_t max_body = 0;  // bytes; a longer body becomes a fault (400), and the connection is closed
    UploadOpener open_upload;    // set: the body goes to the sink, else into Request::body
    ThreadPool* pool = nullptr;  // runs handler, upload and source of the reply; null: the server's
    Handler handler;             // called once, unless body or upload failed; what it throws goes to fault()
    // Set: the request is refused. A body is not read: the refusal goes to fault(), and the connection is
    // closed. Without a body the handler is called, which throws or answers the refusal.
    std::exception_ptr refusal = nullptr;
};

// What a server asks of its service. See RoutedService for a base with routes.
class HttpService {
  public:
    virtual ~HttpService() = default;
    // Runs on an I/O thread and must only read memory. What it throws goes to fault().
    virtual RequestPlan plan(Request& request) = 0;
    // The response to what went wrong outside of the handler (a malformed header, a body over the limit, an
    // upload that its sink refuses) or what the handler threw. `request` is null when the header could not be
    // read. Runs on an I/O thread and must only read memory; a response that takes longer is one for later.
    virtual Response fault(const Request* request, const std::exception& error) = 0;
    // Exactly once for each request that plan() has seen, on an I/O thread: after the last byte of its
    // response is sent, at the switch to WebSocket (101), or with status 0 when the connection broke before a
    // response. The byte counts are those of the bodies.
    virtual void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                      std::chrono::nanoseconds duration) = 0;
};

// Thread-safe after start(). The service and the pool must outlive it.
class HttpServer {
  public:
    HttpServer(HttpService& service, ThreadPool& pool, ServerLimits limits, unsigned io_threads = 2);
    ~HttpServer();  // stop()

    // `name` becomes Peer::listener. A stale socket file is replaced; one that answers is `busy`. The file is
    // removed at stop. group < 0 leaves the group alone.
    void listen_unix(const std::string& name, const std::filesystem::path& path, unsigned mode,
                     int group = -1, ListenerLimits limits = {});
    // "127.0.0.1:8444", "[::]:0"; plain HTTP without `tls`. Returns the real address.
    std::string listen_tcp(const std::string& name, const std::string& address,
                           std::shared_ptr<TlsContext> tls, ListenerLimits limits = {});
    // Before start(): connections of other peers are closed at once. Runs on the acceptor's thread.
    void accept_only(std::function<bool(const Peer&)> peers);
    void start();
    // Accepts no more connections, gives running requests at most `grace` to end, closes WebSockets with
    // 1001, and joins its threads. It waits without a limit for handlers that still run then: make them end
    // first.
    void stop(std::chrono::milliseconds grace = std::chrono::milliseconds(5000));
    // Ends every connection whose peer `matches`: WebSockets with 1008 and `reason`, connections that are
    // idle or upload a body at once, others after the response they are sending. Returns before they have
    // ended.
    void disconnect(const std::function<bool(const Peer&)>& matches, std::string_view reason);
    std::size_t connections() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc

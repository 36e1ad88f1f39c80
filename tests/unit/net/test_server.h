#pragma once
// A real HttpServer on a Unix socket and, where asked, on loopback TCP, and a client of plain bytes.
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/server/server.h"

namespace svc::test {

struct Finished {
    std::string path;
    int status = 0;
    std::uint64_t received = 0, sent = 0;
};

// Answers by path; what it does not know is status 404. Faults become 400 ("exhausted": 503) with their
// message.
class TestService : public HttpService {
  public:
    void add(const std::string& path, RequestPlan plan) { plans_[path] = std::move(plan); }
    void add(const std::string& path, Handler handler, Dispatch dispatch = Dispatch::on_pool,
             std::uint64_t max_body = 1U << 20);

    // Before start(): what becomes of the replies to faults. Empty: they are sent as they are.
    std::function<Response(Response)> change_fault;

    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;
    Finished wait_for_done();  // the oldest one not told yet; fails the test after a minute

  private:
    std::map<std::string, RequestPlan> plans_;  // fixed once the server runs
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Finished> finished_;
};

class TestServer {
  public:
    TestServer();
    TestService service;
    ServerLimits limits;  // change before start()
    bool with_tcp = false, with_tls = false;
    Standing standing = Standing::reserved;  // of the clients of the Unix socket
    Standing tcp_standing = Standing::reserved;
    std::vector<std::string> named;  // besides the identity everybody sees
    TlsVersion least = TlsVersion::tls12;

    void start(std::size_t pool_threads = 4, std::size_t pool_queue = 64);
    HttpServer& server() { return *server_; }
    ThreadPool& pool() { return *pool_; }
    std::filesystem::path directory() const { return directory_.path(); }
    Target unix_target() const;
    Target tcp_target() const { return Target::parse("http://" + tcp_address_); }
    Target tls_target() const;                         // pinned
    Target tls_target(const std::string& name) const;  // asks for one of `named`, pinned
    KeyPair make_identity(const std::string& name) const;

  private:
    TemporaryDirectory directory_;
    std::unique_ptr<ThreadPool> pool_;
    std::unique_ptr<HttpServer> server_;
    std::shared_ptr<TlsContext> tls_;
    std::string tcp_address_, tls_address_;
};

struct RawReply {
    int status = 0;  // 0: the connection ended instead
    std::string head, body;
};

// Bytes over a Unix socket; waits a minute at most.
class RawClient {
  public:
    explicit RawClient(const Target& target);
    bool send(std::string_view data);
    RawReply reply(bool to_head = false);  // with Content-Length or chunked, the latter left as it is
    std::string read_to_end();
    std::string read_some();  // "" at the end
    bool has_input(std::chrono::milliseconds within);
    int descriptor() const { return fd_.get(); }

  private:
    FileDescriptor fd_;
    std::string in_;
};

RawReply ask(const Target& target, const std::string& request);
Response text_response(std::string text);

// A latch for one event; wait() fails the test after a minute.
class Signal {
  public:
    void set();
    bool wait();
    bool is_set() const { return set_; }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> set_{false};
};

}  // namespace svc::test

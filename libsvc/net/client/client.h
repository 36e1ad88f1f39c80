#pragma once
// The pooled HTTP client of the CLI, the library and the drivers; cpp-httplib does the work, inside
// client.cpp.
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"

namespace svc {

struct ClientRequest {
    Method method = Method::get;
    std::string path;  // with query, percent-encoded
    Headers headers;
    std::string body;
    // Instead of `body`: called until it returns "" ; `length` bytes in all (chunked when absent).
    std::function<std::string(std::size_t at_most)> source;
    std::optional<std::uint64_t> length;
    std::function<void(std::string_view)>
        sink;  // set: receives the body of a 2xx instead of ClientReply::body
    std::chrono::milliseconds timeout{60'000};  // without a byte moving
    std::uint64_t max_reply = std::uint64_t{256}
                              << 20;  // bytes of a body kept in memory; more is unavailable
};

struct ClientReply {
    int status = 0;
    Headers headers;
    std::string body;
};

// Thread-safe; connections are kept and reused. Throws unavailable when the server cannot be reached, or
// presents a certificate with another fingerprint than the pinned one.
class HttpClient {
  public:
    explicit HttpClient(Target target);
    ~HttpClient();
    ClientReply call(const ClientRequest& request);
    const Target& target() const { return target_; }

  private:
    class Pool;
    Target target_;
    std::unique_ptr<Pool> pool_;
};

}  // namespace svc

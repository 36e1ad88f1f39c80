#pragma once
// A server to put load on, and connections to it that never block once they are made.
#include <cstdint>
#include <memory>
#include <string>

#include "libsvc/base/file.h"

struct ssl_ctx_st;
struct ssl_st;

namespace svc::bench {

// "unix:/path", "http://address:port" or "https://address:port"; the server's certificate is not checked.
class Endpoint {
  public:
    // The client certificate (PEM files, "" for none) is for https alone.
    Endpoint(const std::string& url, const std::string& certificate, const std::string& key);
    FileDescriptor connect() const;  // blocks until the kernel has the connection
    ssl_ctx_st* tls() const { return tls_.get(); }
    const std::string& url() const { return url_; }

  private:
    std::string url_;
    std::string path_;  // of a Unix socket
    std::string host_;
    std::uint16_t port_ = 0;
    std::shared_ptr<ssl_ctx_st> tls_;
};

enum class Progress { done, want_read, want_write, ended };
struct Moved {
    Progress progress;
    std::size_t bytes = 0;
};

// One connection. One thread.
class Stream {
  public:
    explicit Stream(const Endpoint& endpoint);
    Progress handshake();  // until `done`
    Moved read(char* into, std::size_t size);
    Moved write(const char* data, std::size_t size);
    int fd() const { return socket_.get(); }

  private:
    Moved moved(long result) const;
    struct Free {
        void operator()(ssl_st* ssl) const;
    };
    FileDescriptor socket_;
    std::unique_ptr<ssl_st, Free> ssl_;
};

}  // namespace svc::bench

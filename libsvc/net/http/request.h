#pragma once
// What a handler sees of an HTTP request: plain values, no types of a library.
#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/net/tls/certificate.h"

namespace svc {

enum class Method { get, head, post, put, patch, delete_, options, other };
std::string_view to_text(Method method);  // "GET"
Method parse_method(std::string_view text);

// Names are compared without regard to case.
class Headers {
  public:
    void add(std::string name, std::string value) { items_.emplace_back(std::move(name), std::move(value)); }
    void set(std::string_view name, std::string value);
    const std::string* find(std::string_view name) const;  // the first one; null pointer when absent
    std::string get(std::string_view name) const;          // "" when absent
    auto begin() const { return items_.begin(); }
    auto end() const { return items_.end(); }

  private:
    std::vector<std::pair<std::string, std::string>> items_;
};

enum class Transport { unix_socket, http, https };

// A short text that can still be changed in a value that is const. Thread-safe; a copy has the same text.
class Note {
  public:
    Note() = default;
    Note(const Note& other) : text_(other.get()) {}
    Note& operator=(const Note& other) {
        set(other.get());
        return *this;
    }
    bool set(std::string text) const {  // returns whether it was the same before
        const std::lock_guard lock(mutex_);
        return std::exchange(text_, text) == text;
    }
    std::string get() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }

  private:
    mutable std::mutex mutex_;
    mutable std::string text_;
};

// The client of a connection. All requests of the connection share it.
struct Peer {
    Transport transport = Transport::unix_socket;
    uid_t uid = 0;  // by SO_PEERCRED; meaningful on a Unix socket only
    gid_t gid = 0;
    pid_t pid = 0;
    std::string address;   // of a TCP peer, without port
    std::string listener;  // name given to HttpServer::listen_*(): which of the server's sockets it came by
    std::optional<ClientCertificate> certificate;
    // Set: the request came to the manager of this name, which has passed it on (docs/managers.md).
    std::string forwarded_by;
    // What the service has let the client do with its last request, in the service's words: the client may
    // lose it. "": nothing that can be lost.
    Note granted;
};

// Receives an uploaded body as it arrives. Calls come one at a time, on pool threads. While no bytes arrive
// there is no call, and no thread waits. Destroyed without finish() when the connection breaks.
class BodySink {
  public:
    virtual ~BodySink() = default;
    virtual void write(std::string_view data) = 0;  // an Error ends the upload and becomes the response
    virtual void finish() = 0;                      // the body is complete
};

struct Route;

struct Request {
    std::string id;                // from RoutedService::plan(); "" until then
    std::string requestor;         // who asks, as the service's records name it; the same; "": not told
    const Route* route = nullptr;  // the same; null: no route takes it. Lives as long as the service
    Method method = Method::get;
    std::string method_text;
    std::string target;                         // as sent, with query
    std::string path;                           // percent-decoded; never holds NUL
    std::map<std::string, std::string> query;   // decoded; the first of equal names
    std::map<std::string, std::string> params;  // captures of the route's path
    Headers headers;
    std::optional<std::uint64_t> content_length;  // absent for chunked bodies and for none
    std::string body;                             // of buffered requests
    std::shared_ptr<BodySink> upload;             // of upload requests, finished
    std::shared_ptr<const Peer> peer;

    bool wants_websocket() const;
    std::string query_value(std::string_view name) const;  // "" when absent
};

}  // namespace svc

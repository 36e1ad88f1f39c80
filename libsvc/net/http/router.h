#pragma once
// Tables of routes: each row says all about a route.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"

namespace svc {

// Who may call a route: the least role (docs/trust.md), or what else opens it. There is no default: a row
// without it does not compile. Services without roles tell local clients (admin) from all others.
enum class Access {
    everyone,
    viewer,
    operator_,
    admin,
    token,   // bearer token of an instance, or operator
    secret,  // the secret of an operation's websocket
};
std::string_view to_text(Access access);  // "operator"

enum class Dispatch {
    on_io_thread,  // reads memory only, microseconds
    on_pool,       // may touch store, disk or runtime
    on_slow_pool,  // may wait for a guest, also while its reply is sent
};

using Handler = std::function<Response(Request&)>;
// Opens the sink of an upload before its body is read; an Error it throws becomes the response.
using UploadOpener = std::function<std::shared_ptr<BodySink>(Request&)>;

struct Route {
    Method method;
    std::string path;  // "/1.0/images/{id}/{version}"; a capture is one segment
    Access access;
    Dispatch dispatch;
    std::string label;  // object label of the metrics: "image_version"
    Handler handler;
    std::uint64_t max_body = 1U << 20;  // bytes of a body that is read into memory
    UploadOpener open_upload = {};      // set: the body goes to the sink
    bool reads_body = false;            // of a method whose requests have none by custom: GET, HEAD, OPTIONS
};

// Immutable after construction; thread-safe.
class Router {
  public:
    explicit Router(std::vector<Route> routes);  // throws internal when two routes are the same
    struct Match {
        const Route* route = nullptr;  // null: no such path, or the path does not have this method
        bool path_known = false;
        std::map<std::string, std::string> params;
    };
    // One trailing slash is ignored. HEAD matches GET routes. Written segments win over captures.
    Match match(Method method, std::string_view path) const;
    const std::vector<Route>& routes() const { return routes_; }

  private:
    struct Node;
    std::vector<Route> routes_;
    std::shared_ptr<const Node> root_;
};

}  // namespace svc

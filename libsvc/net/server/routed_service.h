#pragma once
// The base of our HTTP services: svcd's API, svc-gateway, svc-metrics and the control API of the agent. It
// does what surrounds every request: id, log scope, look-up of the route, access rule, limits of the body,
// faults to replies. What differs between the services are tables of routes and the virtual functions below.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/server/server.h"

namespace svc {

// How a request ended, for metrics.
struct ServedRequest {
    int status = 0;              // 101: it became a WebSocket; 0: the connection broke before the reply
    std::uint64_t received = 0;  // bytes of the request's body
    std::uint64_t sent = 0;      // bytes of the reply's body
    std::chrono::nanoseconds duration{};  // from the header to the last byte sent
};

// Thread-safe. A request is looked up once, in plan(), before its body is read; afterwards Request::route has
// the result.
class RoutedService : public HttpService {
  public:
    // The routes of the listeners with this name; "": of all listeners that have no table of their own.
    struct Table {
        std::string listener;
        std::vector<Route> routes;
    };

    RequestPlan plan(Request& request) final;
    Response fault(const Request* request, const std::exception& error) final;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) final;

  protected:
    // `no_route`: the answer to requests that no route takes. Throws internal when a table has a route twice.
    explicit RoutedService(std::vector<Table> tables,
                           Error no_route = Error(ErrorCode::not_found, "not found"));

    // The routes served on `listener`. Throws internal when there is no table for it.
    const std::vector<Route>& routes(std::string_view listener) const;
    // Label of the metrics: the route's, or "not_found". Lives as long as the service.
    static std::string_view label(const Request& request);
    static constexpr std::string_view no_route_label = "not_found";

    // Called in this order. Those without another note run on an I/O thread and must only read memory.

    // The request's id; "": requests of this service have none, and are not logged.
    virtual std::string new_id() { return {}; }
    // Who asks, for Request::requestor and the log; "": not told.
    virtual std::string requestor(const Request&) { return {}; }
    // The route of a request that no table has; null: none. `path_known`: the path has routes for other
    // methods.
    virtual const Route* unlisted_route(const Request& request, bool path_known);
    // Metrics: a request came.
    virtual void begin(const Request& request);
    // Throws the Error with which the request is refused: who may call the route, is there room. Its body is
    // not read then.
    virtual void check(const Request& request);
    // Changes what is done with the request, refused ones (RequestPlan::refusal) included: limits of bodies,
    // delays.
    virtual void adapt(const Request& request, RequestPlan& plan);
    // The reply that an error becomes: the envelope of the service. Any thread.
    virtual Response reply_to(const std::exception& error) = 0;
    // Adds what each reply of the service has. Any thread.
    virtual void decorate(const Request& request, Response& response);
    // Metrics: exactly once for each begin().
    virtual void end(const Request& request, const ServedRequest& served);

  private:
    const Router* router(std::string_view listener) const;
    RequestPlan accepted(const Route& route);
    RequestPlan refused(std::exception_ptr reason);
    RequestPlan checked(const Request& request);
    Response run(const Handler& handler, Request& request);
    Response finished(const Request& request, Response response);

    std::vector<std::pair<std::string, Router>> routers_;  // by listener
    const Error no_route_;
};

}  // namespace svc

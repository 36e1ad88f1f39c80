// The answers of a gateway that has not started to serve, or is stopping.
#include "server/gateway/middleware.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/gateway/response.h"
#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"

namespace svc::gateway {

namespace {

struct World {
    test::ManualClock clock;
    SqliteStore store{":memory:"};
    TokenMint mint{std::string(64, 'x')};
    AccountService accounts{store, mint, clock};
    Authenticator authenticator{accounts};
    Cors cors{{"*"}};
    MetricsRegistry registry;
    HttpMetrics metrics{registry, "host"};
    SystemIdSource ids{clock};
    std::atomic<Phase> phase = Phase::starting;
    Middleware middleware{
        {authenticator, cors, metrics, ids, phase},
        {{Method::get, "/1.0/status", Access::everyone, Dispatch::on_pool, "status",
          [](Request&) { return success(); }},
         {Method::get, "/broken", Access::everyone, Dispatch::on_pool, "broken",
          [](Request&) -> Response { throw std::runtime_error("/etc/secret is missing"); }}},
        {{Method::get, "/metrics", Access::everyone, Dispatch::on_pool, "metrics",
          [](Request&) { return success(); }}}};

    Response ask(const std::string& path, std::string_view listener = api_listener) {
        Request request;
        request.method = Method::get;
        request.method_text = "GET";
        request.path = path;
        auto peer = std::make_shared<Peer>();
        peer->transport = Transport::https;
        peer->listener = listener;
        request.peer = peer;
        RequestPlan plan = middleware.plan(request);
        Response response = plan.handler(request);
        middleware.done(request, response.status, 0, response.body.size(), {});
        return response;
    }
};

}  // namespace

TEST_CASE_METHOD(World, "a gateway that is starting or stopping answers 503") {
    const Response early = ask("/1.0/status");
    CHECK(early.status == 503);
    CHECK(early.headers.get("Retry-After") == "1");
    CHECK(early.headers.get("Access-Control-Allow-Origin") == "*");
    test::check_golden("gateway/golden/starting.json", Json::parse(early.body));
    CHECK(ask("/nothing").status == 404);
    CHECK(ask("/metrics", metrics_listener).status == 200);
    phase = Phase::serving;
    CHECK(ask("/1.0/status").status == 200);
    phase = Phase::stopping;
    CHECK(ask("/1.0/status").status == 503);
}

TEST_CASE_METHOD(World, "a fault of ours is told without its details") {
    phase = Phase::serving;
    log::set_level(log::Level::error);
    const Response response = ask("/broken");
    CHECK(response.status == 500);
    CHECK(response.body ==
          "{\"type\":\"error\",\"status\":\"failed\",\"status_code\":500,\"error\":\"internal error\"}\n");
}

}  // namespace svc::gateway

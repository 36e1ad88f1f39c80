// What the base of our HTTP services does with each request, without sockets.
#include "libsvc/net/server/routed_service.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

namespace svc {

namespace {

Response text_of_route(std::string text) {
    Response response;
    response.body = std::move(text);
    return response;
}

// Answers with the text of errors, and notes what the base calls.
class NotedService final : public RoutedService {
  public:
    NotedService()
        : RoutedService({{"",
                          {open("/open"), secret("/secret"), later("/later"), upload("/upload"),
                           question("/question")}},
                         {"metrics", {open("/metrics")}}}) {}

    std::vector<std::string> notes;

  protected:
    std::string new_id() override { return "request-1"; }
    const Route* unlisted_route(const Request&, bool path_known) override {
        return path_known ? &other_method_ : nullptr;
    }
    void begin(const Request& request) override { notes.push_back("begin " + std::string(label(request))); }
    void check(const Request& request) override {
        if (request.route->access == Access::admin) throw Error(ErrorCode::forbidden, "not you");
    }
    Response reply_to(const std::exception& error) override {
        Response response = text_of_route(error.what());
        response.status = 400;
        return response;
    }
    void decorate(const Request& request, Response& response) override {
        response.headers.set("Route", std::string(label(request)));
    }
    void end(const Request& request, const ServedRequest& served) override {
        notes.push_back("end " + std::string(label(request)) + " " + std::to_string(served.status));
    }

  private:
    static Route open(std::string path) {
        return {Method::get,      path,
                Access::everyone, Dispatch::on_pool,
                "open",           [](Request& request) { return text_of_route("hello " + request.id); }};
    }
    static Route secret(std::string path) {
        return {Method::post,      path,     Access::admin,
                Dispatch::on_pool, "secret", [](Request&) { return text_of_route("the secret"); }};
    }
    static Route later(std::string path) {
        return {Method::get, path, Access::everyone, Dispatch::on_pool, "later", [](Request&) {
                    Response response;
                    response.later = [](const Responder& respond) { respond(text_of_route("at last")); };
                    return response;
                }};
    }
    static Route upload(std::string path) {
        Route route{
            Method::put,      path,
            Access::everyone, Dispatch::on_pool,
            "upload",         [](Request&) -> Response { throw Error(ErrorCode::internal, "went wrong"); }};
        route.open_upload = [](Request&) { return nullptr; };
        return route;
    }

    static Route question(std::string path) {
        Route route{Method::get,      path,
                    Access::everyone, Dispatch::on_pool,
                    "question",       [](Request& request) { return text_of_route("not " + request.body); }};
        route.max_body = 7;
        route.reads_body = true;
        return route;
    }

    const Route other_method_{Method::other,    "",
                              Access::everyone, Dispatch::on_io_thread,
                              "other",          [](Request&) { return text_of_route("other"); }};
};

struct Asked {
    Request request;
    RequestPlan plan;
};

Asked ask(NotedService& service, Method method, const std::string& path,
          const std::string& listener = "api") {
    Asked asked;
    asked.request.method = method;
    asked.request.path = path;
    auto peer = std::make_shared<Peer>();
    peer->listener = listener;
    asked.request.peer = std::move(peer);
    asked.plan = service.plan(asked.request);
    return asked;
}

Response answer(Asked& asked) {
    Response response = asked.plan.handler(asked.request);
    if (!response.later) return response;
    Response last;
    response.later([&last](Response arrived) { last = std::move(arrived); });
    return last;
}

}  // namespace

TEST_CASE("a request is looked up in the table of its listener, once, before its body") {
    NotedService service;
    Asked asked = ask(service, Method::get, "/open");
    REQUIRE(asked.request.route);
    CHECK(asked.request.route->path == "/open");
    CHECK_FALSE(asked.plan.refusal);
    CHECK(answer(asked).body == "hello request-1");
    service.done(asked.request, 200, 0, 5, {});
    CHECK(service.notes == std::vector<std::string>{"begin open", "end open 200"});

    CHECK_FALSE(ask(service, Method::get, "/open", "metrics").request.route);
    CHECK(ask(service, Method::get, "/metrics", "metrics").request.route);
    CHECK_FALSE(ask(service, Method::get, "/metrics").request.route);
}

TEST_CASE("what no route takes is refused, unless the service has a route for it") {
    NotedService service;
    Asked nothing = ask(service, Method::get, "/nothing");
    CHECK(nothing.plan.refusal);
    CHECK(answer(nothing).body == "not found");
    service.done(nothing.request, 400, 0, 0, {});
    CHECK(service.notes == std::vector<std::string>{"begin not_found", "end not_found 400"});
    Asked known = ask(service, Method::delete_, "/open");
    CHECK(answer(known).body == "other");
}

TEST_CASE("the access rule refuses a request before its body is read") {
    NotedService service;
    Asked asked = ask(service, Method::post, "/secret");
    REQUIRE(asked.plan.refusal);
    CHECK_THROWS_WITH(std::rethrow_exception(asked.plan.refusal), "not you");
    CHECK_FALSE(asked.plan.open_upload);
    const Response response = answer(asked);
    CHECK(response.status == 400);
    CHECK(response.body == "not you");
}

TEST_CASE("a GET route that reads a body gets it, and no other one has room for a body") {
    NotedService service;
    Asked question = ask(service, Method::get, "/question");
    CHECK(question.plan.max_body == 7);
    question.request.body = "so";
    CHECK(answer(question).body == "not so");
    CHECK(ask(service, Method::head, "/question").plan.max_body == 7);
    CHECK(ask(service, Method::get, "/open").plan.max_body == 0);
    CHECK(ask(service, Method::head, "/open").plan.max_body == 0);
    CHECK(ask(service, Method::post, "/secret").plan.max_body == 0);  // refused before its body
}

TEST_CASE("every reply is decorated: good ones, late ones, errors and faults") {
    NotedService service;
    Asked good = ask(service, Method::get, "/open");
    CHECK(answer(good).headers.get("Route") == "open");
    Asked late = ask(service, Method::get, "/later");
    const Response arrived = answer(late);
    CHECK(arrived.body == "at last");
    CHECK(arrived.headers.get("Route") == "later");
    Asked broken = ask(service, Method::put, "/upload");
    CHECK(broken.plan.open_upload);
    CHECK(answer(broken).headers.get("Route") == "upload");
    const Error fault(ErrorCode::invalid_argument, "body is too long");
    CHECK(service.fault(&broken.request, fault).headers.get("Route") == "upload");
    CHECK(service.fault(nullptr, fault).body == "body is too long");
}

}  // namespace svc

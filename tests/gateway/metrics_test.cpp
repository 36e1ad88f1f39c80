#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "server/gateway/addresses.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

ApiReply scrape(const TestGateway& gateway, const std::string& credentials) {
    Headers headers;
    if (!credentials.empty()) headers.set("Authorization", "Basic " + base64_encode(credentials));
    return ApiCaller(gateway.metrics_target()).call(Method::get, "/internal/1.0/metrics", "", headers);
}

std::string metrics(const TestGateway& gateway) {
    return scrape(gateway, "prometheus:secret").text;
}

// The number of one series; throws when there is none.
double value(const std::string& text, const std::string& series) {
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) throw Error(ErrorCode::not_found, "no series " + series);
    return std::stod(text.substr(at + series.size() + 2));
}

// Requests are counted when their last byte is sent, which may be after whoever asked has read it. Those that
// ask how the gateway is, and scrapes, do not count here.
int counted(const std::string& text) {
    const std::string_view name = "stream_gateway_http_requests_total{";
    int all = 0;
    for (const std::string& line : split(text, '\n'))
        if (line.starts_with(name) && line.find("\"get_service_status\"") == std::string::npos &&
            line.find("\"get_metrics\"") == std::string::npos)
            all += std::stoi(line.substr(line.rfind(' ')));
    return all;
}

std::string labels(const std::string& handler, const std::string& method, const std::string& more = "") {
    return "{handler=\"" + handler + "\",host=\"" + gateway::host_name() + "\",method=\"" + method + "\"" +
           more + "}";
}

}  // namespace

TEST_CASE("metrics are for those with the configured credentials") {
    TestGateway gateway;
    for (const char* wrong : {"", "prometheus:", "prometheus:wrong", "other:secret", "prometheus", ":",
                              "prometheus:secret2", "prometheus:secre"}) {
        INFO(wrong);
        gateway.clock().advance(std::chrono::seconds(10));
        const ApiReply reply = scrape(gateway, wrong);
        CHECK(reply.status == 401);
        CHECK(reply.headers.get("WWW-Authenticate") == "Basic realm=\"metrics\"");
        CHECK(reply.text.find("stream_gateway_") == std::string::npos);
    }
    Headers headers;
    headers.set("Authorization", "Basic !!!");
    CHECK(
        ApiCaller(gateway.metrics_target()).call(Method::get, "/internal/1.0/metrics", "", headers).status ==
        401);
    const ApiReply reply = scrape(gateway, "prometheus:secret");
    CHECK(reply.status == 200);
    CHECK(reply.headers.get("Content-Type") == "text/plain; version=0.0.4");
}

TEST_CASE("the password of the metrics is not guessed quickly") {
    TestGateway gateway;
    for (int i = 0; i < 10; ++i) CHECK(scrape(gateway, "").status == 401);
    for (int i = 0; i < 5; ++i) CHECK(scrape(gateway, "prometheus:wrong").status == 401);
    CHECK(scrape(gateway, "prometheus:secret").status == 403);
    gateway.clock().advance(std::chrono::seconds(10));
    CHECK(scrape(gateway, "prometheus:secret").status == 200);
}

TEST_CASE("metrics have a listener of their own and it has nothing else") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    CHECK(gateway.call(Method::get, "/internal/1.0/metrics", token).status == 404);
    for (const char* path : {"/", "/1.0/status", "/1.0/sessions", "/metrics"})
        CHECK(ApiCaller(gateway.metrics_target()).get(path).status == 404);
}

TEST_CASE("without credentials in its configuration a gateway serves no metrics") {
    TestGateway gateway([](auto& options) { options.metrics_user = options.metrics_password = ""; });
    CHECK_THROWS_AS(gateway.metrics_target(), Error);
}

TEST_CASE("metrics tell sessions accounts and agents") {
    TestGateway gateway;
    std::string text = metrics(gateway);
    for (const char* status : {"created", "active", "error", "terminating", "terminated"})
        CHECK(value(text, "stream_gateway_sessions_total{status=\"" + std::string(status) + "\"}") == 0);
    CHECK(value(text, "stream_gateway_accounts_total") == 0);
    CHECK(value(text, "stream_gateway_agents_total{status=\"active\"}") == 1);
    CHECK(value(text, "stream_gateway_agents_total{status=\"unresponsive\"}") == 0);
    const std::string token = gateway.token("alice");
    const std::string id = gateway.create(token).at("id").as_string();
    gateway.create(token);
    const ScriptedInstance instance(gateway, id);
    gateway.await_status(token, id, "active");
    gateway.region().set_answers(false);
    gateway.clock().advance(std::chrono::seconds(20));
    text = metrics(gateway);
    CHECK(value(text, "stream_gateway_sessions_total{status=\"created\"}") == 1);
    CHECK(value(text, "stream_gateway_sessions_total{status=\"active\"}") == 1);
    CHECK(value(text, "stream_gateway_accounts_total") == 1);
    CHECK(value(text, "stream_gateway_agents_total{status=\"active\"}") == 0);
    CHECK(value(text, "stream_gateway_agents_total{status=\"unresponsive\"}") == 1);
}

TEST_CASE("requests are counted by the handlers of the route table") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    const std::string id =
        gateway.create(token, Json::parse(R"({"app":"app","joinable":true})")).at("id").as_string();
    gateway.call(Method::get, "/1.0/sessions", token);
    gateway.call(Method::get, "/1.0/sessions/" + id, token);
    gateway.call(Method::post, "/1.0/sessions/" + id + "/join", token);
    gateway.call(Method::get, "/1.0/applications", token);
    gateway.call(Method::get, "/1.0/regions/", token);
    gateway.call(Method::delete_, "/1.0/sessions", token, Json::object());
    gateway.call(Method::delete_, "/1.0/sessions/" + id, token);
    gateway.call(Method::get, "/1.0/sessions", "");
    gateway.call(Method::get, "/1.0/sessions/" + id + "/sockets/slave", "");
    gateway.call(Method::get, "/1.0/session/" + id + "/sockets/master", "");
    gateway.call(Method::get, "/nothing", "");
    gateway.caller().call(Method::options, "/1.0/sessions");
    std::string text;
    eventually("all are counted", [&] {
        text = metrics(gateway);
        return counted(text) == 14;
    });
    const auto count = [&](const std::string& handler, const std::string& method, int code) {
        return value(text, "stream_gateway_http_requests_total" +
                               labels(handler, method, ",code=\"" + std::to_string(code) + "\""));
    };
    CHECK(count("get_service_status", "get", 200) >= 1);
    CHECK(count("create_new_session", "post", 201) == 1);
    CHECK(count("get_sessions", "get", 200) == 1);
    CHECK(count("get_sessions", "get", 401) == 1);
    CHECK(count("get_session", "get", 200) == 1);
    CHECK(count("delete_session", "delete", 200) == 1);
    CHECK(count("delete_sessions", "delete", 400) == 1);
    CHECK(count("join_session", "post", 400) == 1);
    CHECK(count("streaming_websocket_slave", "get", 400) == 1);
    CHECK(count("streaming_websocket_master", "get", 400) == 1);
    CHECK(count("get_applications", "get", 200) == 1);
    CHECK(count("get_regions", "get", 200) == 1);
    CHECK(count("create_account", "post", 201) == 1);
    CHECK(count("not_found", "get", 404) == 1);
    CHECK(count("preflight", "options", 204) == 1);
    CHECK(value(text, "stream_gateway_http_request_duration_seconds_bucket" +
                          labels("get_sessions", "get", ",le=\"0.5\"")) == 2);
    CHECK(value(text, "stream_gateway_http_request_size_bytes_bucket" +
                          labels("create_new_session", "post", ",le=\"200\"")) == 1);
    CHECK(value(text, "stream_gateway_http_response_size_bytes_bucket" +
                          labels("get_sessions", "get", ",le=\"100000\"")) == 2);
}

TEST_CASE("every handler has its series before anybody asks") {
    TestGateway gateway;
    const std::string text = metrics(gateway);
    for (const auto& [handler, method] :
         std::map<std::string, std::string>{{"create_new_session", "post"},
                                            {"get_sessions", "get"},
                                            {"get_session", "get"},
                                            {"delete_session", "delete"},
                                            {"delete_sessions", "delete"},
                                            {"join_session", "post"},
                                            {"streaming_websocket_master", "get"},
                                            {"streaming_websocket_slave", "get"},
                                            {"get_applications", "get"},
                                            {"get_regions", "get"}})
        CHECK(value(text, "stream_gateway_http_request_duration_seconds_bucket" +
                              labels(handler, method, ",le=\"+Inf\"")) == 0);
}

TEST_CASE("a websocket counts when it ends and is in flight until then") {
    TestGateway gateway;
    const std::string url = gateway.create(gateway.token("alice")).at("url").as_string();
    const std::string series =
        "stream_gateway_http_requests_total" + labels("streaming_websocket_slave", "get", ",code=\"101\"");
    const auto in_flight = [&] { return value(metrics(gateway), "stream_gateway_http_in_flight_requests"); };
    {
        WebSocketClient client = gateway.open(url);
        eventually("in flight", [&] { return in_flight() == 2; });  // with the scrape itself
        CHECK(metrics(gateway).find(series) == std::string::npos);
        client.close();
    }
    eventually("counted", [&] { return metrics(gateway).find(series + " 1\n") != std::string::npos; });
    eventually("nothing else is in flight", [&] { return in_flight() == 1; });
}

TEST_CASE("no token is in the metrics") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    gateway.caller().get("/1.0/sessions?api_token=" + token);
    gateway.caller().get("/" + token);
    CHECK(metrics(gateway).find(token) == std::string::npos);
}

}  // namespace svc::test

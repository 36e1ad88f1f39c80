// Several managers: what a follower passes on, and what comes of it.
#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/error.h"
#include "libsvc/model/instances/capture.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/api/metric_value.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"
#include "tests/support/test_managers.h"

namespace svc::test {

namespace {

std::string identifier_of_image(ApiCaller& api) {
    return api.add_image("base", image_package());
}

}  // namespace

TEST_CASE("a follower passes changes on and reads by itself") {
    TestManagers managers(2);
    managers.lead(0);
    const std::string image = identifier_of_image(managers.api(1));
    CHECK(managers.api(1).get("/1.0/images/" + image).status == 200);
    CHECK(managers.api(0).get("/1.0/images/" + image).status == 200);
    const std::string instance = managers.api(1).launch(image);
    CHECK(managers.api(1).get("/1.0/containers/" + instance).metadata().at("status") == Json("running"));
}

TEST_CASE("a follower passes a recording on while it is made") {
    std::promise<void> seen;
    TestManagers managers(2, [shown = seen.get_future().share()](server::Options& options) {
        options.simulated.streamer = [shown](const std::string&,
                                             const std::function<bool(std::string_view)>& send) {
            send(capture_block(CaptureBlock::data, "begin"));
            shown.wait();
            send(capture_block(CaptureBlock::data, " end") + capture_block(CaptureBlock::whole, ""));
        };
    });
    managers.lead(0);
    std::string body;
    ClientRequest request;
    request.path =
        "/1.0/instances/" + managers.api(1).launch(identifier_of_image(managers.api(1))) + "/recording";
    request.sink = [&](std::string_view bytes) {
        if (body.empty()) seen.set_value();
        body += bytes;
    };
    request.timeout = long_wait;
    CHECK(HttpClient(managers.local_target(1)).call(request).status == 200);
    CHECK(body == "begin end");
}

TEST_CASE("errors of the leader keep their status and their text") {
    TestManagers managers(2);
    managers.lead(0);
    const std::string body = R"({"image_id": "0123456789abcdefghij", "instance_type": "a2.3"})";
    const ApiReply here = managers.api(0).call(Method::post, "/1.0/containers", body);
    const ApiReply there = managers.api(1).call(Method::post, "/1.0/containers", body);
    CHECK(here.status >= 400);
    CHECK(there.status == here.status);
    CHECK(there.text == here.text);
    CHECK(managers.api(1).get("/1.0/operations/none").status == 404);
    CHECK(managers.api(1).get("/1.0/images/none").status == 404);
    CHECK(managers.api(1).call(Method::post, "/1.0/containers", "{").status == 400);
}

TEST_CASE("whether an instance exists that reports to a follower, the leader decides") {
    TestManagers managers(2);
    managers.lead(0);
    const std::string instance = "0123456789abcdefghij";
    Headers headers;
    headers.set("Authorization", managers.bearer(instance));
    const auto passed_on = [&] {
        return value(ApiCaller(managers.metrics_target(1)).get("/internal/1.0/metrics").text,
                     "svc_manager_forwarded_requests_total{outcome=\"answered\"}");
    };
    const double before = passed_on();
    const ApiReply refused =
        ApiCaller(managers.agent_target(1))
            .call(Method::patch, "/1.0/containers/" + instance, R"({"status": "running"})", headers);
    CHECK(refused.status == 403);
    CHECK(passed_on() == before + 1);
}

TEST_CASE("whoever has no certificate of the cluster reaches nothing at the managers' listener") {
    TestManagers managers(2);
    managers.lead(0);
    const KeyPair stranger = make_key_pair(managers.path(), "stranger");
    Headers root;
    root.set("Svc-Forwarded-By", "m1");
    root.set("Svc-Client-Listener", "local");
    root.set("Svc-Client-User", "0");
    for (const std::optional<KeyPair>& identity : {std::optional<KeyPair>(), std::optional(stranger)}) {
        ApiCaller api(managers.managers_target(0, identity));
        CHECK(api.get("/1.0").status == 404);
        CHECK(api.call(Method::get, "/1.0/config", "", root).status == 404);
        CHECK(api.call(Method::post, "/1.0/containers", "{}", root).status == 404);
    }
    ApiCaller manager(managers.managers_target(0, managers.cluster_keys()));
    CHECK(manager.call(Method::get, "/1.0/config", "", root).status == 200);
    CHECK(manager.get("/1.0/config").status == 404);  // for no client
}

TEST_CASE("what managers tell each other is not believed of clients") {
    TestManagers managers(2);
    managers.lead(0);
    Headers root;
    root.set("Svc-Forwarded-By", "m1");
    root.set("svc-client-listener", "local");
    root.set("Svc-Client-User", "0");
    for (const std::size_t asked : {0U, 1U}) {
        ApiCaller guest(managers.tls_target(asked));
        CHECK(guest.call(Method::get, "/1.0/config", "", root).status == 403);
        CHECK(guest.call(Method::get, "/1.0/operations", "", root).status == 403);
        CHECK(guest.call(Method::get, "/1.0", "", root).metadata().at("auth") == Json("guest"));
    }
}

TEST_CASE("an operation names the client that asked the follower") {
    TestManagers managers(2);
    managers.lead(0);
    const KeyPair user = make_key_pair(managers.path(), "user");
    const std::string fingerprint = parse_certificate(read_file(user.certificate)).fingerprint;
    const auto added = managers.api(1).post("/1.0/certificates",
                                            Json::object({{"certificate", read_file(user.certificate)}}));
    REQUIRE(added.status == 200);
    ApiCaller api(managers.tls_target(1, user));
    CHECK(api.get("/1.0").metadata().at("auth") == Json("trusted"));
    const ApiReply accepted = api.upload(Method::post, "/1.0/images", R"({"name":"base"})", image_package());
    const Json operation = api.succeed(accepted);
    CHECK(operation.dump().find(fingerprint) != std::string::npos);
    const ApiReply local =
        managers.api(1).upload(Method::post, "/1.0/images", R"({"name":"other"})", image_package());
    CHECK(managers.api(1).succeed(local).dump().find("uid=") != std::string::npos);
    managers.api(1).succeed(managers.api(1).remove("/1.0/certificates/" + fingerprint));
    CHECK(ApiCaller(managers.tls_target(1, user)).get("/1.0/operations").status == 403);
}

TEST_CASE("events have the same numbers at every manager") {
    TestManagers managers(3);
    managers.lead(0);
    WebSocketClient here(managers.local_target(0), "/1.0/events?type=lifecycle,operation");
    WebSocketClient there(managers.local_target(2), "/1.0/events?type=lifecycle,operation");
    managers.api(1).launch(identifier_of_image(managers.api(1)));
    std::uint64_t last = 0;
    for (int event = 0; event < 8; ++event) {
        const auto one = here.receive(std::chrono::minutes(1));
        const auto other = there.receive(std::chrono::minutes(1));
        REQUIRE(one);
        REQUIRE(other);
        CHECK(one->data == other->data);
        const auto number = static_cast<std::uint64_t>(Json::parse(one->data).at("sequence").as_int());
        CHECK(number > last);
        CHECK(number >> 32U == 1);
        last = number;
    }
}

TEST_CASE("the audit has the same numbers at every manager, and goes on with the next leader") {
    TestManagers managers(3);
    managers.lead(0);
    WebSocketClient there(managers.local_target(2), "/1.0/events?type=audit");
    managers.api(1).patch("/1.0/config", Json::object({{"name", "gpu.type"}, {"value", "none"}}));
    const auto first = there.receive(std::chrono::minutes(1));
    REQUIRE(first);
    const Json entry = Json::parse(first->data);
    CHECK(entry.at("metadata").at("path") == Json("/1.0/config"));
    CHECK(entry.at("sequence") == Json((std::int64_t{1} << 32) + 1));
    managers.kill(0);
    managers.lead(2);
    managers.api(1).patch("/1.0/config", Json::object({{"name", "gpu.type"}, {"value", "none"}}));
    WebSocketClient second(managers.local_target(2),
                           "/1.0/events?type=audit&since=" + entry.at("sequence").dump());
    const Json next = Json::parse(second.receive(std::chrono::minutes(1))->data);
    CHECK(next.at("type") == Json("audit"));  // no gap
    CHECK(next.at("sequence") == Json((std::int64_t{2} << 32) + 1));
}

TEST_CASE("a client reads on at another manager, and after a change of the leader") {
    TestManagers managers(3);
    managers.lead(0);
    identifier_of_image(managers.api(1));
    // A manager that does not know the leader's numbers yet has missed nothing, and begins with its first
    // event.
    eventually("the second manager knows the term", [&] {
        WebSocketClient early(managers.local_target(1), "/1.0/events?type=operation&since=0");
        return early.receive(std::chrono::minutes(1))->data.find("gap") != std::string::npos;
    });
    WebSocketClient first(managers.local_target(1), "/1.0/events?type=operation&since=0");
    REQUIRE_THAT(first.receive(std::chrono::minutes(1))->data, Catch::Contains("gap"));  // before term 1
    std::vector<std::string> seen;
    while (seen.empty() || seen.back().find("\"Success\"") == std::string::npos)
        seen.push_back(first.receive(std::chrono::minutes(1))->data);
    const std::string number = Json::parse(seen.at(0)).at("sequence").dump();
    // A manager that has not received the events yet answers with a gap.
    eventually("the third manager has the leader's events", [&] {
        WebSocketClient early(managers.local_target(2), "/1.0/events?type=operation&since=" + number);
        return early.receive(std::chrono::minutes(1))->data == seen[1];
    });
    WebSocketClient second(managers.local_target(2), "/1.0/events?type=operation&since=" + number);
    for (std::size_t next = 1; next < seen.size(); ++next)
        CHECK(second.receive(std::chrono::minutes(1))->data == seen[next]);
    managers.kill(0);
    managers.lead(2);
    managers.api(1).add_image("second", image_package());
    WebSocketClient third(managers.local_target(1), "/1.0/events?type=operation&since=" + number);
    for (std::size_t next = 1; next < seen.size(); ++next)
        CHECK(third.receive(std::chrono::minutes(1))->data == seen[next]);
    std::string text;
    while (text.find("\"Success\"") == std::string::npos) {
        text = third.receive(std::chrono::minutes(1))->data;
        const Json event = Json::parse(text);
        CHECK(event.at("type") == Json("operation"));  // no gap
    }
    CHECK(static_cast<std::uint64_t>(Json::parse(text).at("sequence").as_int()) >> 32U == 2);
}

TEST_CASE("the next leader reads the logs of failed instances that the last one has collected") {
    TestManagers managers(2, [](server::Options& options) { options.simulated.fail_share = 1; });
    managers.lead(0);
    identifier_of_image(managers.api(0));
    const Json launch = Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}});
    const ApiReply accepted = managers.api(0).post("/1.0/containers", launch);
    CHECK(managers.api(0).wait(accepted).at("status_code") == Json(400));
    const std::string logs = "/1.0/containers/" + resource_id(accepted.metadata(), "containers") + "/logs";
    const std::string text = managers.api(0).get(logs + "/console.log").text;
    CHECK(text == "the simulated init was told to fail\n");
    CHECK(managers.api(1).get(logs + "/console.log").text == text);
    managers.kill(0);
    managers.lead(1);
    CHECK(managers.api(1).get(logs).metadata() == Json::array({logs + "/console.log"}));
    CHECK(managers.api(1).get(logs + "/console.log").text == text);
}

TEST_CASE("a request waits for a leader, and is refused when none comes") {
    TestManagers managers(2);
    auto operations = std::async(std::launch::async,
                                 [&] { return ApiCaller(managers.local_target(1)).get("/1.0/operations"); });
    managers.lead(0);
    CHECK(operations.get().status == 200);
    managers.nobody_leads();
    const ApiReply refused = managers.api(1).get("/1.0/operations");
    CHECK(refused.status == 503);
    CHECK(refused.error() == "no manager leads the cluster at present; nothing was done");
    CHECK(managers.api(1).get("/1.0/images").status == 200);
}

TEST_CASE("a WebSocket is refused when the leader only says that it does not lead") {
    TestManagers managers(2);
    managers.announce(0);
    CHECK_THROWS_WITH(WebSocketClient(managers.local_target(1), "/1.0/operations/1/websocket?secret=2"),
                      Catch::Contains("no manager leads the cluster at present"));
}

}  // namespace svc::test

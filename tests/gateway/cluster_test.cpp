// Several gateways over one etcd inside the test's process, with one region that the test plays.
#include <array>
#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/support/etcd_process.h"
#include "tests/support/gateway_options.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

Headers authorization(const std::string& token) {
    Headers headers;
    headers.set("Authorization", "macaroon root=" + token);
    return headers;
}

// "wss://host:port/path", known by this certificate.
WebSocketClient open(const std::string& url, const std::string& fingerprint, const std::string& name = "") {
    const std::size_t slash = url.find('/', 6);
    Target target = Target::parse("https" + url.substr(3, slash - 3));
    target.server_fingerprint = fingerprint;
    target.server_name = name;
    return {target, url.substr(slash)};
}

// Two gateways, of which the first one leads at first.
class Gateways {
  public:
    Gateways() {
        skip_unless_etcd();
        etcd_.emplace();
        start(0);
        eventually("the first one leads", [&] { return gateways_[0]->leads(); });
        start(1);
    }

    void start(std::size_t number) {
        log::set_level(log::Level::error);
        gateways_[number] = std::make_unique<gateway::Gateway>(options(number), seams());
    }
    void end(std::size_t number) { gateways_[number].reset(); }
    gateway::Options options(std::size_t number) const {
        const auto folder = directory_.path() / std::to_string(number);
        gateway::Options options = loopback_gateway_options(folder);
        options.metrics_listen = "127.0.0.1:0";
        options.metrics_user = "u";
        options.metrics_password = "p";
        options.store = "etcd";
        options.etcd.endpoints = etcd_->endpoints();
        options.gateway_name = "g" + std::to_string(number);
        options.gateway_listen = "127.0.0.1:0";
        std::filesystem::create_directories(folder);
        return options;
    }
    gateway::Seams seams() {
        gateway::Seams seams;
        seams.management = [this](const RegionConfig&) { return region.connect(); };
        return seams;
    }
    gateway::Gateway& gateway(std::size_t number) { return *gateways_[number]; }
    std::string address(std::size_t number) const {
        for (const std::string& address : gateways_[number]->addresses())
            if (address.starts_with("https:") && !address.ends_with("/metrics")) return address;
        throw Error(ErrorCode::not_found, "the gateway does not listen");
    }
    ApiCaller local(std::size_t number) const {
        Target target;
        target.unix_path = options(number).socket;
        return ApiCaller(target);
    }
    ApiReply call(std::size_t number, Method method, const std::string& path, const std::string& token,
                  const Json& body = {}) const {
        Target target = Target::parse(address(number));
        target.server_fingerprint = gateways_[number]->fingerprint();
        return ApiCaller(target).call(method, path, body.is_null() ? "" : body.dump(), authorization(token));
    }
    std::string metrics(std::size_t number) const {
        Target target;
        for (const std::string& address : gateways_[number]->addresses())
            if (address.ends_with("/metrics"))
                target = Target::parse(address.substr(0, address.find("/int")));
        target.server_fingerprint = gateways_[number]->fingerprint();
        Headers headers;
        headers.set("Authorization", "Basic " + base64_encode("u:p"));
        return ApiCaller(target).call(Method::get, "/internal/1.0/metrics", "", headers).text;
    }
    std::string token(std::size_t number, const std::string& account) const {
        const ApiReply reply = local(number).post("/1.0/accounts", Json::object({{"name", account}}));
        REQUIRE(reply.status == 201);
        return reply.metadata().at("token").as_string();
    }
    Json create(std::size_t number, const std::string& token) const {
        const ApiReply reply = call(number, Method::post, "/1.0/sessions", token,
                                    Json::object({{"app", "app"}, {"joinable", true}}));
        INFO(reply.text);
        REQUIRE(reply.status == 201);
        return reply.metadata();
    }
    std::string status(std::size_t number, const std::string& id, const std::string& token) const {
        const ApiReply reply = call(number, Method::get, "/1.0/sessions/" + id, token);
        return reply.status == 200 ? reply.metadata().at("status").as_string() : reply.text;
    }

    FakeManagement region;

  private:
    TemporaryDirectory directory_{std::filesystem::temp_directory_path(), "svc-gateways-"};
    std::optional<EtcdCluster> etcd_;
    std::array<std::unique_ptr<gateway::Gateway>, 2> gateways_;
};

// The instance of the newest session, as its user data tells it to behave.
class PlayedInstance {
  public:
    explicit PlayedInstance(Gateways& gateways) {
        eventually("a launch", [&] { return !gateways.region.launches().empty(); });
        streaming_ = gateways.region.launches().back().user_data.at("streaming");
    }
    std::string control_url() const { return streaming_.at("control_url").as_string(); }
    // The same at another gateway that it was told.
    std::string other_url(std::size_t number) const {
        const std::string own = control_url();
        return streaming_.at("other_gateways").as_array().at(number).as_string() +
               own.substr(own.find('/', 6));
    }
    void connect(const std::string& url) {
        socket_.emplace(open(url, streaming_.at("server_fingerprint").as_string(),
                             streaming_.at("server_name").as_string()));
        socket_->send_text(Json::object({{"type", "ctl:register"},
                                         {"session_id", streaming_.at("session_id")},
                                         {"version", "1"},
                                         {"codecs", Json::array({"VP8"})}})
                               .dump());
    }
    // The next message of that type; answers pings.
    Json await(const std::string& type) {
        for (;;) {
            Json message = receive(*socket_);
            if (message.at("type") == Json(type)) return message;
            if (message.at("type") == Json("ctl:ping")) socket_->send_text(R"({"type":"ctl:pong"})");
        }
    }
    WebSocketClient& socket() { return *socket_; }

  private:
    Json streaming_;
    std::optional<WebSocketClient> socket_;
};

// A client joins at that gateway, and both ends hear of each other.
void signals_work(Gateways& gateways, std::size_t number, const std::string& id, const std::string& token,
                  PlayedInstance& instance) {
    const ApiReply reply =
        gateways.call(number, Method::post, "/1.0/sessions/" + id + "/join", token, Json::object());
    INFO(reply.text);
    REQUIRE(reply.status == 200);
    const std::string url = reply.metadata().at("url").as_string();
    CHECK(url.starts_with("wss" + gateways.address(number).substr(5) + "/"));
    WebSocketClient client = open(url, gateways.gateway(number).fingerprint());
    const Json client_id = instance.await("ctl:client-joined").at("client_id");
    client.send_text(R"({"type":"discover"})");
    CHECK(instance.await("discover").at("client_id") == client_id);
    instance.socket().send_text(Json::object({{"type", "resp:discover"}, {"client_id", client_id}}).dump());
    CHECK(receive(client) == Json::object({{"type", "resp:discover"}}));
    client.close();
    CHECK(instance.await("ctl:client-left").at("client_id") == client_id);
}

}  // namespace

TEST_CASE("a session that is made at one gateway is served by the other") {
    Gateways gateways;
    const std::string token = gateways.token(1, "alice");
    const Json made = gateways.create(1, token);
    const std::string id = made.at("id").as_string();
    CHECK(made.at("url").as_string().starts_with("wss" + gateways.address(1).substr(5) + "/"));
    PlayedInstance instance(gateways);
    CHECK(instance.control_url().starts_with("wss" + gateways.address(0).substr(5) + "/"));
    SECTION("with the instance at the leader") {
        instance.connect(instance.control_url());
    }
    SECTION("with the instance at the other one") {
        instance.connect(instance.other_url(0));
    }
    for (const std::size_t number : {0, 1})
        eventually("the session is active", [&] { return gateways.status(number, id, token) == "active"; });
    for (const std::size_t number : {0, 1}) signals_work(gateways, number, id, token, instance);
    CHECK(gateways.call(1, Method::delete_, "/1.0/sessions/" + id + "?sync=true", token).status == 200);
    CHECK(gateways.call(1, Method::get, "/1.0/sessions/" + id, token).status == 404);
    CHECK(gateways.call(1, Method::get, "/1.0/regions", token).metadata() ==
          gateways.call(0, Method::get, "/1.0/regions", token).metadata());
}

TEST_CASE("an account is valid at all gateways until it is removed at any") {
    Gateways gateways;
    const std::string of_follower = gateways.token(1, "alice"), of_leader = gateways.token(0, "bob");
    CHECK(gateways.call(1, Method::get, "/1.0/sessions", of_follower).status == 200);
    CHECK(gateways.call(0, Method::get, "/1.0/sessions", of_follower).status == 200);
    eventually("the other one knows it",
               [&] { return gateways.call(1, Method::get, "/1.0/sessions", of_leader).status == 200; });
    CHECK(gateways.local(1).call(Method::delete_, "/1.0/accounts/bob").status == 200);
    for (const std::size_t number : {1, 0})
        CHECK(gateways.call(number, Method::get, "/1.0/sessions", of_leader).status == 401);
    CHECK(gateways.call(1, Method::get, "/1.0/accounts", of_follower).status == 404);  // local socket only
}

TEST_CASE("sessions outlive the gateway that leads") {
    Gateways gateways;
    const std::string token = gateways.token(0, "alice");
    const std::string id = gateways.create(0, token).at("id").as_string();
    PlayedInstance instance(gateways);
    instance.connect(instance.control_url());
    eventually("the session is active", [&] { return gateways.status(1, id, token) == "active"; });
    const std::string fingerprint = gateways.gateway(0).fingerprint();
    gateways.end(0);
    CHECK(gateways.status(1, id, token) == "active");
    const std::string later = gateways.create(1, token).at("id").as_string();  // waits for the new leader
    CHECK(gateways.gateway(1).leads());
    CHECK(gateways.gateway(1).fingerprint() == fingerprint);
    instance.connect(instance.other_url(0));
    signals_work(gateways, 1, id, token, instance);
    gateways.start(0);
    CHECK(gateways.status(0, later, token) == "created");
    signals_work(gateways, 0, id, token, instance);
}

TEST_CASE("what the leader refuses is refused by every gateway with the same text") {
    Gateways gateways;
    const std::string token = gateways.token(0, "alice");
    eventually("the other one knows it",
               [&] { return gateways.call(1, Method::get, "/1.0/sessions", token).status == 200; });
    const auto same = [&](Method method, const std::string& path, const Json& body = {}) {
        const ApiReply here = gateways.call(0, method, path, token, body);
        const ApiReply there = gateways.call(1, method, path, token, body);
        INFO(here.text);
        CHECK(here.status >= 400);
        CHECK(there.status == here.status);
        CHECK(there.text == here.text);
    };
    same(Method::post, "/1.0/sessions", Json::object({{"app", "absent"}}));
    same(Method::post, "/1.0/sessions", Json::object({{"app", 7}}));
    same(Method::get, "/1.0/sessions/c055dl0j1qm027422feg");
    same(Method::delete_, "/1.0/sessions/c055dl0j1qm027422feg?sync=1");
    same(Method::get, "/1.0/sessions/c055dl0j1qm027422feg/sockets/slave?token=x");
    same(Method::get, "/1.0/absent");
    CHECK(code_of([&] {
              open("wss" + gateways.address(1).substr(5) + "/1.0/sessions/" +
                       gateways.create(1, token).at("id").as_string() + "/sockets/slave?token=x",
                   gateways.gateway(1).fingerprint());
          }) == ErrorCode::forbidden);
}

TEST_CASE("the metrics tell which gateway leads and what is passed on") {
    Gateways gateways;
    gateways.token(1, "alice");
    CHECK(gateways.metrics(0).find("\nstream_gateway_leads 1\n") != std::string::npos);
    CHECK(gateways.metrics(0).find("\nstream_gateway_agents_total{status=\"active\"} 1\n") !=
          std::string::npos);
    const std::string follower = gateways.metrics(1);
    CHECK(follower.find("\nstream_gateway_leads 0\n") != std::string::npos);
    CHECK(follower.find("\nstream_gateway_agents_total{status=\"unresponsive\"} 0\n") != std::string::npos);
    CHECK(follower.find("\nstream_gateway_forwarded_requests_total{outcome=\"answered\"} 1\n") !=
          std::string::npos);
}

TEST_CASE("only gateways of the cluster pass requests on") {
    Gateways gateways;
    std::string address;
    for (const std::string& each : gateways.gateway(0).addresses())
        if (each.starts_with("gateways:")) address = each.substr(9);
    Target target = Target::parse("https://" + address);
    target.unverified = true;
    Headers headers;
    headers.set("Svc-Forwarded-By", "g1");
    headers.set("Svc-Client-Listener", "local");
    headers.set("Svc-Client-User", "0");
    CHECK(ApiCaller(target).call(Method::get, "/1.0/accounts", "", headers).status == 404);
    const auto tls = gateways.options(0).state_dir / "tls";
    target.identity = KeyPair{tls / "server.crt", tls / "server.key"};
    CHECK(ApiCaller(target).call(Method::get, "/1.0/accounts", "", headers).status == 404);
    target.identity = KeyPair{tls / "instances.crt", tls / "instances.key"};
    CHECK(ApiCaller(target).call(Method::get, "/1.0/accounts", "", headers).status == 200);
}

TEST_CASE("a state directory belongs to one store") {
    Gateways gateways;
    gateway::Options options = gateways.options(1);
    gateways.end(1);
    options.store = "sqlite";
    options.gateway_listen = "";
    CHECK(message_of([&] { gateway::Gateway(options, gateways.seams()); }).find("are in etcd, of cluster") !=
          std::string::npos);
    TestGateway alone;
    gateway::Options moved = gateways.options(1);
    moved.state_dir = alone.options().state_dir;
    alone.stop();
    CHECK(message_of([&] { gateway::Gateway(moved, gateways.seams()); }).find("are in gateway.db") !=
          std::string::npos);
    EtcdCluster empty;
    gateway::Options elsewhere = gateways.options(1);
    elsewhere.etcd.endpoints = empty.endpoints();
    CHECK(code_of([&] { gateway::Gateway(elsewhere, gateways.seams()); }) == ErrorCode::conflict);
    elsewhere.etcd.new_cluster = true;
    gateway::Gateway anew(elsewhere, gateways.seams());
    eventually("it leads", [&] { return anew.leads(); });
}

}  // namespace svc::test

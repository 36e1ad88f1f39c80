#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/http/instance_network.h"
#include "tests/support/eventually.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct CertificateSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    KeyPair keys = make_key_pair(daemon.path(), "client");
    std::string pem = read_file(keys.certificate);
    std::string fingerprint = parse_certificate(pem).fingerprint;
    ApiCaller client{daemon.tls_target(keys)};

    ApiReply add(ApiCaller& caller, const Json& body) { return caller.post("/1.0/certificates", body); }
};

}  // namespace

TEST_CASE_METHOD(CertificateSetup, "a trusted caller adds certificates") {
    CHECK(add(api, Json::object({{"certificate", base64_encode(parse_certificate(pem).der)}}))
              .metadata()
              .is_null());
    const std::string url = "/1.0/certificates/" + fingerprint;
    CHECK(api.get("/1.0/certificates").metadata() == Json::array({url}));
    const ApiReply shown = api.get("/1.0/certificates/" + fingerprint.substr(0, 12));
    CHECK(shown.metadata() ==
          Json::object({{"certificate", pem}, {"fingerprint", fingerprint}, {"role", "admin"}}));
    CHECK(shown.headers.get("ETag").size() == 66);
    CHECK(api.get("/1.0/certificates?recursion=1").metadata() == Json::array({shown.metadata()}));
    CHECK(add(api, Json::object({{"certificate", pem}})).error() == "certificate already exists");
    CHECK(client.get("/1.0/certificates").status == 200);
}

TEST_CASE_METHOD(CertificateSetup, "faulty certificates are refused") {
    CHECK(add(api, Json::object({{"certificate", "AAAA"}})).status == 400);
    CHECK(add(api, Json::object({{"certificate", 3}})).status == 400);
    CHECK(add(api, Json::object()).status == 400);
    CHECK(api.call(Method::post, "/1.0/certificates", "[").status == 400);
    CHECK(api.get("/1.0/certificates/" + fingerprint).error() == "certificate not found");
    CHECK(api.remove("/1.0/certificates/" + fingerprint).status == 404);
    CHECK(api.get("/1.0/certificates").metadata() == Json::array());
}

TEST_CASE_METHOD(CertificateSetup, "a stranger needs the trust password") {
    const auto with = [&](const char* password) {
        return add(client, Json::object({{"trust-password", password}}));
    };
    CHECK(with("secret").error() == "No password is set");
    api.set("core.trust_password", "secret");
    CHECK(api.get("/1.0/config").metadata().at("config").at("core.trust_password") == Json(true));
    CHECK(with("guess").error() == "Bad password provided");
    CHECK(with("guess").status == 403);
    CHECK(client.get("/1.0/images").status == 403);
    CHECK(with("secret").status == 200);  // the certificate of the connection
    CHECK(client.get("/1.0/images").status == 200);
}

TEST_CASE_METHOD(CertificateSetup, "instances get in by no password") {
    api.set("core.trust_password", "secret");
    daemon.restart([](server::Options& options) { options.simulated.subnet = "127.0.0.2/8"; });
    ApiCaller instance(daemon.tls_target(keys));
    for (const char* password : {"secret", "guess", ""}) {
        const ApiReply reply = add(instance, Json::object({{"trust-password", password}}));
        CHECK(reply.status == 403);
        CHECK(reply.error() == "no password is taken from an instance");
    }
    CHECK(instance.get("/1.0/images").status == 403);
}

TEST_CASE_METHOD(CertificateSetup, "without a bridge nobody is taken for an instance") {
    api.set("core.trust_password", "secret");
    daemon.restart([](server::Options& options) { options.lxc.subnet = "127.0.0.2/8"; });
    ApiCaller neighbour(daemon.tls_target(keys));
    CHECK(add(neighbour, Json::object({{"trust-password", "secret"}})).status == 200);
    Peer peer;
    peer.transport = Transport::https;
    for (const char* address : {"0.0.0.0", "192.168.100.2", "fe80::1%svcbr0", "fe80::1%", ""}) {
        INFO(address);
        peer.address = address;
        CHECK_FALSE(server::InstanceNetwork().contains(peer));
    }
}

TEST_CASE("an instance is known by its address or by the bridge") {
    const server::InstanceNetwork network("192.168.100.1/20", "svcbr0");
    const auto contains = [&](const std::string& address, Transport transport = Transport::https) {
        Peer peer;
        peer.transport = transport;
        peer.address = address;
        return network.contains(peer);
    };
    CHECK(contains("192.168.96.0"));
    CHECK(contains("192.168.111.255"));
    CHECK(contains("fe80::1%svcbr0"));
    CHECK(contains("192.168.100.2"));
    CHECK_FALSE(contains("192.168.100.1"));  // the machine itself
    CHECK_FALSE(contains("192.168.112.0"));
    CHECK_FALSE(contains("fe80::1%svcbr01"));
    CHECK_FALSE(contains("2001:db8::1"));
    CHECK_FALSE(contains("192.168.96.1", Transport::unix_socket));
}

TEST_CASE("instances of other machines are known by their network or by their machine") {
    const server::InstanceNetwork network("10.64.4.1/22", "svcbr0", [](const Peer& peer) {
        return peer.address == "10.77.0.12" || server::InstanceNetwork("10.64.8.1/22", "").contains(peer);
    });
    const auto contains = [&](const std::string& address) {
        Peer peer;
        peer.transport = Transport::https;
        peer.address = address;
        return network.contains(peer);
    };
    for (const char* address : {"10.64.4.2", "10.64.8.2", "10.64.11.255", "10.77.0.12"})
        CHECK(contains(address));
    for (const char* address : {"10.64.4.1", "10.64.12.1", "10.77.0.13"}) CHECK_FALSE(contains(address));
}

TEST_CASE_METHOD(CertificateSetup, "a removed certificate loses its connections") {
    daemon.trust(keys);
    CHECK(client.get("/1.0/images").status == 200);
    WebSocketClient events(daemon.tls_target(keys), "/1.0/events");
    CHECK(api.wait(api.remove("/1.0/certificates/" + fingerprint)).at("status_code") == Json(200));
    auto message = events.receive(long_wait);
    while (message && message->kind == WebSocketMessage::Kind::text) message = events.receive(long_wait);
    CHECK((!message || message->kind == WebSocketMessage::Kind::closed));
    CHECK(client.get("/1.0/images").status == 403);
}

TEST_CASE_METHOD(CertificateSetup, "a join token is good for one certificate") {
    const ApiReply issued =
        api.post("/1.0/certificates/tokens", Json::object({{"name", "laptop"}, {"expiry", "10m"}}));
    const Json invitation = Json::parse(base64_decode(issued.metadata().at("token").as_string()));
    CHECK(invitation.at("fingerprint") == Json(daemon.tls_target().server_fingerprint));
    CHECK(invitation.at("addresses").as_array().at(0).as_string().starts_with("https://"));
    const Json listed = api.get("/1.0/certificates/tokens").metadata();
    CHECK(listed.as_array().at(0).at("name") == Json("laptop"));
    CHECK(listed.as_array().at(0).find("token") == nullptr);
    const Json body = Json::object({{"join_token", issued.metadata().at("token")}});
    CHECK(add(client, body).status == 200);
    CHECK(client.get("/1.0/images").status == 200);
    CHECK(api.get("/1.0/certificates/tokens").metadata() == Json::array());
    const KeyPair others = make_key_pair(daemon.path(), "other");
    ApiCaller other(daemon.tls_target(others));
    CHECK(add(other, body).status == 403);
}

TEST_CASE_METHOD(CertificateSetup, "join tokens are taken back") {
    const ApiReply issued = api.post("/1.0/certificates/tokens", Json::object({{"name", "laptop"}}));
    const std::string url = "/1.0/certificates/tokens/" + issued.metadata().at("id").as_string();
    CHECK(api.remove(url).status == 200);
    CHECK(api.remove(url).status == 404);
    CHECK(add(client, Json::object({{"join_token", issued.metadata().at("token")}})).status == 403);
    CHECK(api.post("/1.0/certificates/tokens", Json::object()).error() == "name is required");
    CHECK(api.post("/1.0/certificates/tokens", Json::object({{"name", "x"}, {"expiry", "soon"}})).status ==
          400);
}

}  // namespace svc::test

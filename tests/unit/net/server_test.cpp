#include "libsvc/net/server/server.h"

#include <sys/stat.h>

#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/unit/net/simple_handlers.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("malformed requests are answered 400 and closed") {
    TestServer t;
    t.limits.header_bytes = 2048;
    t.limits.header_count = 20;
    t.service.add("/", echo, Dispatch::on_io_thread);
    t.start();
    std::string many;
    for (int i = 0; i < 30; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
    const auto request = GENERATE_COPY(
        std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/2.5\r\nHost: x\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\n\r\n"), std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("GET / HTTP/1.1\r\nHost : x\r\n\r\n"), get("/", std::string("X-A: a\0b\r\n", 10)),
        get("/",
            "X-A: a\x01"
            "b\r\n"),
        get("/", std::string("X-A: ") + std::string(4000, 'a') + "\r\n"), get("/", many), get("/a%0"),
        get("/a%zz"), get("/a%00b"), get("/?q=%"), get("relative"), get("*"),
        std::string("GET http//x HTTP/1.1\r\nHost: x\r\n\r\n"), get("/a b"), std::string(3000, 'a'));
    CAPTURE(request);
    RawClient client(t.unix_target());
    client.send(request);
    CHECK(client.reply().status == 400);
    CHECK(client.read_to_end().empty());
}

TEST_CASE("targets are decoded") {
    TestServer t;
    t.service.add("/a b",
                  [](Request& r) { return text_response(r.query_value("q") + "|" + r.query_value("none")); });
    t.start();
    CHECK(ask(t.unix_target(), get("/a%20b?q=%C3%A4+x&q=2&none")).body == "\xC3\xA4 x|");
    CHECK(ask(t.unix_target(), get("http://host/a%20b?q=1")).body == "1|");
    CHECK(ask(t.unix_target(), "\r\n" + get("/a%20b?q=1")).body == "1|");
}

TEST_CASE("keep alive serves pipelined requests in order") {
    TestServer t;
    t.service.add("/pool", [](Request& r) { return text_response("pool" + r.query_value("n")); });
    t.service.add(
        "/io", [](Request& r) { return text_response("io" + r.query_value("n")); }, Dispatch::on_io_thread);
    t.start();
    RawClient client(t.unix_target());
    std::string all;
    for (int i = 0; i < 200; ++i) all += get((i % 2 != 0 ? "/io?n=" : "/pool?n=") + std::to_string(i));
    client.send(all);
    for (int i = 0; i < 200; ++i)
        CHECK(client.reply().body == (i % 2 != 0 ? "io" : "pool") + std::to_string(i));
    client.send(get("/io?n=x", "Connection: close\r\n"));
    const auto last = client.read_to_end();
    CHECK(last.find("Connection: close\r\n") != std::string::npos);
    CHECK(last.ends_with("iox"));
}

TEST_CASE("http 1 0 gets one response") {
    TestServer t;
    t.service.add("/", hello);
    t.start();
    RawClient client(t.unix_target());
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client.read_to_end().ends_with("\r\n\r\nhello"));
}

TEST_CASE("head has the length and no body") {
    TestServer t;
    t.service.add("/", hello);
    t.start();
    RawClient client(t.unix_target());
    client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get("/"));
    const auto head = client.reply(true);
    CHECK(head.status == 200);
    CHECK(head.head.find("Content-Length: 5\r\n") != std::string::npos);
    CHECK(client.reply().body == "hello");
}

TEST_CASE("buffered bodies arrive sized and chunked up to their limit") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    t.start();
    const auto post = [&](const std::string& rest) {
        return ask(t.unix_target(), "POST / HTTP/1.1\r\nHost: x\r\n" + rest);
    };
    CHECK(post("Content-Length: 10\r\n\r\n0123456789").body == "0123456789");
    CHECK(post("Content-Length: 11\r\n\r\n0123456789a").status == 400);
    CHECK(post("Transfer-Encoding: chunked\r\n\r\n4;x=y\r\n0123\r\n6\r\n456789\r\n0\r\nX-Trailer: 1\r\n\r\n")
              .body == "0123456789");
    CHECK(post("Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n7\r\n4567890\r\n0\r\n\r\n").status == 400);
    CHECK(post("Content-Length: 0\r\n\r\n").status == 200);
}

TEST_CASE("a refused body does not become the next request") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    t.start();
    RawClient client(t.unix_target());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + get("/"));
    CHECK(client.reply().status == 400);
    CHECK(client.read_to_end().empty());
}

TEST_CASE("expect continue is answered once the request is accepted") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    t.start();
    RawClient client(t.unix_target());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK(client.reply().status == 100);
    client.send("abc");
    CHECK(client.reply().body == "abc");
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 30\r\n\r\n");
    CHECK(client.reply().status == 400);
}

namespace {

// Replies to faults that come when the test says so.
struct HeldFaults {
    explicit HeldFaults(TestService& service) {
        service.change_fault = [this](Response response) {
            Response held;
            held.later = [this, reply = std::make_shared<Response>(std::move(response))](Responder respond) {
                answer = [respond = std::move(respond), reply] { respond(std::move(*reply)); };
                asked.set();
            };
            return held;
        };
    }
    Signal asked;
    std::function<void()> answer;
};

constexpr std::string_view too_long = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n";

}  // namespace

TEST_CASE("a fault may be answered later, and what follows is not read meanwhile") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    HeldFaults held(t.service);
    t.start();
    RawClient client(t.unix_target());
    client.send(too_long);
    REQUIRE(held.asked.wait());
    std::thread rest([&] { client.send(std::string(400000, 'x')); });
    CHECK(ask(t.unix_target(), get("/none")).status == 404);
    held.answer();
    CHECK(client.reply().status == 400);
    CHECK(client.read_to_end().empty());
    rest.join();
}

TEST_CASE("a client may leave before the reply to its fault comes") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    HeldFaults held(t.service);
    t.start();
    {
        RawClient client(t.unix_target());
        client.send(too_long);
        REQUIRE(held.asked.wait());
    }
    CHECK(t.service.wait_for_done().status == 0);
    held.answer();
    CHECK(ask(t.unix_target(), get("/none")).status == 404);
}

TEST_CASE("a reply to a fault that never comes is an internal error") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    t.service.change_fault = [](Response) {
        Response none;
        none.later = [](const Responder&) {};
        return none;
    };
    t.start();
    CHECK(ask(t.unix_target(), std::string(too_long)).status == 500);
}

TEST_CASE("a handler that throws becomes a fault") {
    TestServer t;
    t.service.add("/", [](Request&) -> Response { throw Error(ErrorCode::internal, "broken"); });
    t.start();
    RawClient client(t.unix_target());
    client.send(get("/"));
    CHECK(client.reply().body == "broken");
    client.send(get("/unknown"));
    CHECK(client.reply().status == 404);
}

TEST_CASE("unix peers are known by their credentials") {
    TestServer t;
    t.service.add("/", [](Request& r) {
        const bool me = r.peer->uid == getuid() && r.peer->pid == getpid() && r.peer->listener == "local";
        return text_response(me && r.peer->transport == Transport::unix_socket ? "me" : "not me");
    });
    t.start();
    CHECK(ask(t.unix_target(), get("/")).body == "me");
}

TEST_CASE("socket files have their mode replace stale ones and go with the server") {
    TestServer t;
    t.service.add("/", hello);
    t.start();
    struct stat info {};
    REQUIRE(stat(t.unix_target().unix_path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);

    ThreadPool pool("other", 1, 1);
    HttpServer other(t.service, pool, ServerLimits());
    CHECK_THROWS_AS(other.listen_unix("x", t.unix_target().unix_path, 0600), Error);
    write_file_atomically(t.directory() / "file", "x");
    CHECK_THROWS_AS(other.listen_unix("x", t.directory() / "file", 0600), Error);

    t.server().stop();
    CHECK_FALSE(std::filesystem::exists(t.unix_target().unix_path));
}

TEST_CASE("the client certificate is seen over tls") {
    TestServer t;
    t.with_tls = true;
    t.service.add("/", [](Request& r) {
        return text_response(r.peer->certificate ? r.peer->certificate->fingerprint : "none");
    });
    t.start();
    ClientRequest request;
    request.path = "/";
    Target target = t.tls_target();
    CHECK(HttpClient(target).call(request).body == "none");
    CHECK(call_directly(target, request).body == "none");
    const auto identity = t.make_identity("client");
    target.identity = identity;
    const auto fingerprint = parse_certificate(read_file(identity.certificate)).fingerprint;
    HttpClient client(target);
    for (int i = 0; i < 3; ++i) CHECK(client.call(request).body == fingerprint);
    CHECK(call_directly(target, request).body == fingerprint);
}

TEST_CASE("a server with another certificate is not spoken to") {
    TestServer t;
    t.with_tls = true;
    t.service.add("/", hello);
    t.start();
    ClientRequest request;
    request.path = "/";
    Target target = t.tls_target();
    target.server_fingerprint = std::string(64, 'a');
    CHECK_THROWS_AS(HttpClient(target).call(request), Error);
    CHECK_THROWS_WITH(call_directly(target, request), Catch::Contains("certificate"));
    target.server_fingerprint = "";
    CHECK_THROWS_AS(HttpClient(target).call(request), Error);
    CHECK_THROWS_AS(call_directly(target, request), Error);
}

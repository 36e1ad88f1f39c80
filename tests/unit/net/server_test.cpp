#include "libsvc/net/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client.h"
#include "libsvc/net/direct_call.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

Response echo(Request& request) {
    return text_response(request.body);
}

Response hello(Request&) {
    return text_response("hello");
}

std::string get(const std::string& path, const std::string& fields = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

}  // namespace

TEST_CASE("malformed_requests_are_answered_400_and_closed") {
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

TEST_CASE("targets_are_decoded") {
    TestServer t;
    t.service.add("/a b",
                  [](Request& r) { return text_response(r.query_value("q") + "|" + r.query_value("none")); });
    t.start();
    CHECK(ask(t.unix_target(), get("/a%20b?q=%C3%A4+x&q=2&none")).body == "\xC3\xA4 x|");
    CHECK(ask(t.unix_target(), get("http://host/a%20b?q=1")).body == "1|");
    CHECK(ask(t.unix_target(), "\r\n" + get("/a%20b?q=1")).body == "1|");
}

TEST_CASE("keep_alive_serves_pipelined_requests_in_order") {
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

TEST_CASE("http_1_0_gets_one_response") {
    TestServer t;
    t.service.add("/", hello);
    t.start();
    RawClient client(t.unix_target());
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client.read_to_end().ends_with("\r\n\r\nhello"));
}

TEST_CASE("head_has_the_length_and_no_body") {
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

TEST_CASE("buffered_bodies_arrive_sized_and_chunked_up_to_their_limit") {
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

TEST_CASE("a_refused_body_does_not_become_the_next_request") {
    TestServer t;
    t.service.add("/", echo, Dispatch::on_pool, 10);
    t.start();
    RawClient client(t.unix_target());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + get("/"));
    CHECK(client.reply().status == 400);
    CHECK(client.read_to_end().empty());
}

TEST_CASE("expect_continue_is_answered_once_the_request_is_accepted") {
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

TEST_CASE("a_handler_that_throws_becomes_a_fault") {
    TestServer t;
    t.service.add("/", [](Request&) -> Response { throw Error(ErrorCode::internal, "broken"); });
    t.start();
    RawClient client(t.unix_target());
    client.send(get("/"));
    CHECK(client.reply().body == "broken");
    client.send(get("/unknown"));
    CHECK(client.reply().status == 404);
}

TEST_CASE("a_full_pool_is_answered_and_not_waited_for") {
    TestServer t;
    Signal entered;
    Signal release;
    t.service.add("/slow", [&](Request&) {
        entered.set();
        release.wait();
        return text_response("slow");
    });
    t.start(1, 1);
    RawClient running(t.unix_target());
    running.send(get("/slow"));
    REQUIRE(entered.wait());
    RawClient queued(t.unix_target());
    queued.send(get("/slow"));
    while (t.pool().queued() == 0) std::this_thread::yield();
    CHECK(ask(t.unix_target(), get("/slow")).status == 503);
    release.set();
    CHECK(running.reply().body == "slow");
    CHECK(queued.reply().body == "slow");
}

TEST_CASE("slow_clients_are_cut") {
    TestServer t;
    t.limits.header_time = 50ms;
    t.limits.body_idle_time = 50ms;
    t.limits.keep_alive_time = 50ms;
    t.limits.write_idle_time = 50ms;
    t.service.add("/", echo);
    t.service.add("/big", [](Request&) { return text_response(std::string(64U << 20, 'x')); });
    t.start();
    SECTION("that say nothing") {
        RawClient client(t.unix_target());
        CHECK(client.read_to_end().empty());
    }
    SECTION("in the header") {
        RawClient client(t.unix_target());
        client.send("GET / HTTP/1.1\r\nHo");
        CHECK(client.read_to_end().empty());
    }
    SECTION("in the body") {
        RawClient client(t.unix_target());
        client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
        CHECK(client.read_to_end().empty());
        CHECK(t.service.wait_for_done().status == 0);
    }
    SECTION("between requests") {
        RawClient client(t.unix_target());
        client.send(get("/"));
        CHECK(client.reply().status == 200);
        CHECK(client.read_to_end().empty());
    }
    SECTION("that do not read") {
        RawClient client(t.unix_target());
        client.send(get("/big"));
        CHECK(t.service.wait_for_done().sent == 0);
        CHECK(client.read_to_end().size() < (64U << 20));
    }
}

TEST_CASE("idle_connections_do_not_hold_up_others") {
    TestServer t;
    t.service.add("/", hello);
    t.start();
    std::vector<RawClient> idle;
    for (int i = 0; i < 500; ++i) idle.emplace_back(t.unix_target());
    for (auto& client : idle) client.send("GET / HT");
    CHECK(ask(t.unix_target(), get("/")).body == "hello");
    CHECK(t.server().connections() >= 500);
}

TEST_CASE("one_connection_too_many_is_closed_at_once") {
    TestServer t;
    t.limits.max_connections = 1;
    t.service.add("/", hello);
    t.start();
    RawClient first(t.unix_target());
    first.send(get("/"));
    CHECK(first.reply().status == 200);
    RawClient second(t.unix_target());
    CHECK(second.read_to_end().empty());
}

TEST_CASE("unix_peers_are_known_by_their_credentials") {
    TestServer t;
    t.service.add("/", [](Request& r) {
        const bool me = r.peer->uid == getuid() && r.peer->pid == getpid() && r.peer->listener == "local";
        return text_response(me && r.peer->transport == Transport::unix_socket ? "me" : "not me");
    });
    t.start();
    CHECK(ask(t.unix_target(), get("/")).body == "me");
}

TEST_CASE("socket_files_have_their_mode_replace_stale_ones_and_go_with_the_server") {
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

TEST_CASE("stop_lets_a_running_request_end") {
    TestServer t;
    Signal entered;
    Signal release;
    t.service.add("/", [&](Request&) {
        entered.set();
        release.wait();
        return text_response("done");
    });
    t.start();
    RawClient idle(t.unix_target());
    RawClient client(t.unix_target());
    client.send(get("/"));
    REQUIRE(entered.wait());
    std::jthread stopper([&] { t.server().stop(20s); });
    CHECK(idle.read_to_end().empty());
    release.set();
    CHECK(client.read_to_end().ends_with("done"));
    stopper.join();
    CHECK(t.server().connections() == 0);
}

TEST_CASE("stop_without_grace_breaks_off_what_runs") {
    TestServer t;
    Signal entered;
    Signal release;
    t.service.add("/", [&](Request&) {
        entered.set();
        release.wait();
        return text_response("done");
    });
    t.start();
    RawClient client(t.unix_target());
    client.send(get("/"));
    REQUIRE(entered.wait());
    std::jthread stopper([&] { t.server().stop(0ms); });
    CHECK(client.read_to_end().empty());
    release.set();
}

TEST_CASE("disconnect_ends_matching_connections_alone") {
    TestServer t;
    t.with_tcp = true;
    t.service.add("/", hello);
    t.start();
    RawClient local(t.unix_target());
    local.send(get("/"));
    CHECK(local.reply().status == 200);
    HttpClient remote(t.tcp_target());
    ClientRequest request;
    request.path = "/";
    CHECK(remote.call(request).status == 200);
    t.server().disconnect([](const Peer& peer) { return peer.transport == Transport::unix_socket; }, "test");
    CHECK(local.read_to_end().empty());
    CHECK(remote.call(request).status == 200);
}

TEST_CASE("the_client_certificate_is_seen_over_tls") {
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

TEST_CASE("a_server_with_another_certificate_is_not_spoken_to") {
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

TEST_CASE("a_deferred_response_comes_when_its_responder_is_called") {
    TestServer t;
    Signal deferred;
    Responder responder;
    t.service.add("/later", [&](Request&) {
        Response response;
        response.later = [&](Responder r) {
            responder = std::move(r);
            deferred.set();
        };
        return response;
    });
    t.service.add("/at-once", [](Request&) {
        Response response;
        response.later = [](const Responder& r) { r(text_response("at once")); };
        return response;
    });
    t.service.add("/dropped", [](Request&) {
        Response response;
        response.later = [](const Responder&) {};
        return response;
    });
    t.start(1);
    RawClient client(t.unix_target());
    client.send(get("/later"));
    REQUIRE(deferred.wait());
    CHECK(ask(t.unix_target(), get("/at-once")).body == "at once");  // the pool's only thread is free
    SECTION("and the connection goes on") {
        client.send(get("/at-once"));
        responder(text_response("later"));
        responder(text_response("too late"));
        CHECK(client.reply().body == "later");
        CHECK(client.reply().body == "at once");
        client.send(get("/dropped"));
        CHECK(client.reply().body == "request was dropped");
    }
    SECTION("unless the client went") {
        CHECK(t.service.wait_for_done().path == "/at-once");
        client = RawClient(t.unix_target());
        const auto gone = t.service.wait_for_done();
        CHECK(gone.path == "/later");
        CHECK(gone.status == 0);
        responder(text_response("later"));
    }
    SECTION("or the server stops") {
        t.server().stop(0ms);
        CHECK(client.read_to_end().empty());
        responder(text_response("later"));
    }
}

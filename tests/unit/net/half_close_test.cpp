// Clients that end their own side when they have asked, and wait for the answer; and those that are gone.
#include <sys/socket.h>

#include "tests/support/tls_client.h"
#include "tests/unit/net/simple_handlers.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

// "/later" is answered when the test says so. Its handler ends after the client has ended its side, and on
// the connection's own thread: what the server does next is to see that end.
struct Later {
    Later() {
        server.service.add(
            "/later",
            [this](Request&) {
                half_closed.wait();
                Response response;
                response.later = [this](Responder r) {
                    responder = std::move(r);
                    deferred.set();
                };
                return response;
            },
            Dispatch::on_io_thread);
        server.service.add("/at-once", hello);
    }
    void answer() {
        REQUIRE(deferred.wait());
        responder(text_response("later"));
    }
    // Clients that have asked and ended their own side.
    RawClient half_closed_client(const std::string& requests = get("/later")) {
        RawClient client(server.unix_target());
        client.send(requests);
        shutdown(client.descriptor(), SHUT_WR);
        half_closed.set();
        return client;
    }
    FileDescriptor half_closed_tcp_client() {
        FileDescriptor client = connect_tcp(server.tcp_target());
        const std::string request = get("/later");
        REQUIRE(send(client.get(), request.data(), request.size(), 0) > 0);
        shutdown(client.get(), SHUT_WR);
        half_closed.set();
        return client;
    }
    bool client_was_lost() {
        REQUIRE(deferred.wait());
        const Finished finished = server.service.wait_for_done();
        responder(text_response("later"));
        return finished.path == "/later" && finished.status == 0;
    }

    Signal half_closed, deferred;
    Responder responder;
    TestServer server;  // last: ends first
};

std::string read_all(const FileDescriptor& fd) {
    std::string all;
    char buffer[4096];
    for (ssize_t count = 0; (count = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;)
        all.append(buffer, static_cast<std::size_t>(count));
    return all;
}

}  // namespace

TEST_CASE("a half closed unix connection gets its answer and ends") {
    Later later;
    later.server.start();
    RawClient client = later.half_closed_client();
    later.answer();
    const std::string all = client.read_to_end();
    CHECK(all.starts_with("HTTP/1.1 200"));
    CHECK(all.find("Connection: close\r\n") != std::string::npos);
    CHECK(all.ends_with("\r\n\r\nlater"));
    CHECK(later.server.service.wait_for_done().status == 200);
}

TEST_CASE("requests behind one that waits are answered after a half close") {
    Later later;
    later.server.start();
    RawClient client = later.half_closed_client(get("/later") + get("/at-once"));
    later.answer();
    CHECK(client.reply().body == "later");
    CHECK(client.reply().body == "hello");
    CHECK(client.read_to_end().empty());
}

TEST_CASE("a unix client that leaves after its half close is noticed") {
    Later later;
    later.server.start();
    {
        const RawClient client = later.half_closed_client();
        REQUIRE(later.deferred.wait());
    }
    CHECK(later.client_was_lost());
}

TEST_CASE("a half closed tcp connection gets its answer") {
    Later later;
    later.server.with_tcp = true;
    later.server.start();
    const FileDescriptor client = later.half_closed_tcp_client();
    later.answer();
    CHECK(read_all(client).ends_with("\r\n\r\nlater"));
}

TEST_CASE("a half closed tcp connection waits as long as an idle one stays") {
    Later later;
    later.server.with_tcp = true;
    later.server.limits.keep_alive_time = 50ms;
    later.server.start();
    const FileDescriptor client = later.half_closed_tcp_client();
    CHECK(later.client_was_lost());
    CHECK(read_all(client).empty());
}

TEST_CASE("goodbye by tls is a half close until tcp ends") {
    Later later;
    later.server.with_tls = true;
    later.server.start();
    TlsClient client(later.server.tls_target(), GENERATE(TlsVersion::tls12, TlsVersion::tls13));
    client.send(get("/later"));
    client.say_goodbye();
    SECTION("the answer comes") {
        later.half_closed.set();
        later.answer();
        CHECK(client.read_to_end().ends_with("\r\n\r\nlater"));
    }
    SECTION("a client that leaves later is noticed") {
        later.half_closed.set();
        REQUIRE(later.deferred.wait());
        client.leave();
        CHECK(later.client_was_lost());
    }
    SECTION("a client that has left is noticed") {
        client.leave();
        later.half_closed.set();
        CHECK(later.client_was_lost());
    }
}

// Requests that two readers could take apart differently, and replies that a client could be made to misread.
#include <sys/socket.h>

#include <atomic>

#include "tests/unit/net/simple_handlers.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(const std::string& fields, const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body;
}

std::string chunked(const std::string& body) {
    return post("Transfer-Encoding: chunked\r\n", body);
}

struct Smuggled {
    const char* name;
    std::string bytes;
};

std::vector<Smuggled> ambiguous() {
    const std::string both = "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n";
    const std::string zero = "0\r\n\r\n";
    return {
        {"both lengths", post(both, zero + hidden)},
        {"both lengths, the other way",
         post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", zero + hidden)},
        {"two lengths", post("Content-Length: 0\r\nContent-Length: 5\r\n", "abcde" + hidden)},
        {"a list of lengths", post("Content-Length: 0, 5\r\n", "abcde" + hidden)},
        {"a length with a sign", post("Content-Length: +0\r\n", hidden)},
        {"a length in hex", post("Content-Length: 0x0\r\n", hidden)},
        {"a length with a space in it", post("Content-Length: 0 5\r\n", "abcde" + hidden)},
        {"an empty length", post("Content-Length: \r\n", hidden)},
        {"two encodings",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", zero + hidden)},
        {"identity", post("Transfer-Encoding: identity\r\n", hidden)},
        {"an unknown encoding", post("Transfer-Encoding: xchunked\r\n", zero + hidden)},
        {"chunked in quotes", post("Transfer-Encoding: \"chunked\"\r\n", zero + hidden)},
        {"chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", zero + hidden)},
        {"chunked not last", post("Transfer-Encoding: chunked, gzip\r\n", zero + hidden)},
        {"chunked with a parameter", post("Transfer-Encoding: chunked;a=b\r\n", zero + hidden)},
        {"a space before the colon", post("Transfer-Encoding : chunked\r\n", zero + hidden)},
        {"a tab before the colon", post("Content-Length\t: 0\r\n", hidden)},
        {"a form feed before the value", post("Transfer-Encoding:\fchunked\r\n", zero + hidden)},
        {"a folded line", post("X: a\r\n Transfer-Encoding: chunked\r\n", hidden)},
        {"a folded encoding", post("Transfer-Encoding:\r\n chunked\r\n", zero + hidden)},
        {"a first field that is folded", "POST / HTTP/1.1\r\n Host: x\r\n\r\n" + hidden},
        {"lines that end with LF", "POST / HTTP/1.1\nHost: x\nContent-Length: 0\n\n" + hidden},
        {"a header that ends with LF", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\n" + hidden},
        {"a CR alone", post("X: a\rContent-Length: 0\r\n", hidden)},
        {"a NUL in a name", post(std::string("Content\0-Length: 0\r\n", 20), hidden)},
        {"a NUL in the target", std::string("POST /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 30) + hidden},
        {"no name", post(": chunked\r\n", hidden)},
        {"no colon", post("Transfer-Encoding chunked\r\n", zero + hidden)},
        {"chunked in HTTP/1.0",
         "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + zero + hidden},
        {"two spaces in the first line", "POST  / HTTP/1.1\r\nHost: x\r\n\r\n" + hidden},
        {"a tab in the first line", "POST\t/ HTTP/1.1\r\nHost: x\r\n\r\n" + hidden},
        {"a version that is none", "POST / HTTP/1.1x\r\nHost: x\r\n\r\n" + hidden},
        {"a chunk of negative size", chunked("-1\r\n" + hidden)},
        {"a chunk of 2^64 bytes", chunked("10000000000000000\r\n" + hidden)},
        {"a chunk of 2^64-1 bytes", chunked("ffffffffffffffff\r\n" + std::string(2U << 20, 'x'))},
        {"a chunk size in C", chunked("0x0\r\n\r\n" + hidden)},
        {"a chunk that is longer than it says", chunked("1\r\nabc\r\n0\r\n\r\n" + hidden)},
        {"a chunk line that ends with LF", chunked("1\na\n0\n\n" + hidden)},
        {"an endless chunk extension", chunked("1;" + std::string(100'000, 'a') + "\r\n" + hidden)},
        {"an endless trailer", chunked("0\r\nX: " + std::string(100'000, 'a') + "\r\n\r\n" + hidden)},
        {"endless zeros of a size", chunked(std::string(100'000, '0') + "\r\n\r\n" + hidden)},
    };
}

}  // namespace

TEST_CASE("a request that could be read in two ways is refused and nothing behind it is read") {
    TestServer t;
    std::atomic<int> reached{0};
    t.service.add("/", echo, Dispatch::on_io_thread);
    t.service.add(
        "/hidden",
        [&](Request&) {
            ++reached;
            return text_response("hidden");
        },
        Dispatch::on_io_thread);
    t.start();
    for (const auto& [name, bytes] : ambiguous()) {
        CAPTURE(name);
        RawClient client(t.unix_target());
        client.send(bytes);
        shutdown(client.descriptor(), SHUT_WR);
        const std::string all = client.read_to_end();
        CHECK(all.starts_with("HTTP/1.1 400 "));
        CHECK(all.find("HTTP/1.1", 1) == std::string::npos);
        CHECK(reached == 0);
    }
}

TEST_CASE("a trailer becomes no header, and what follows it is the next request") {
    TestServer t;
    t.service.add("/", [](Request& r) { return text_response(r.body + r.headers.get("X-Late")); });
    t.start();
    RawClient client(t.unix_target());
    client.send(chunked("3;name=value\r\nabc\r\n0\r\nX-Late: yes\r\n\r\n") + get("/"));
    CHECK(client.reply().body == "abc");
    CHECK(client.reply().body.empty());
}

TEST_CASE("text of a client makes no line of a reply's header") {
    TestServer t;
    t.service.add("/", [](Request& r) {
        Response response = text_response("ok");
        response.headers.set("Location", "/" + r.query_value("to"));
        return response;
    });
    t.start();
    for (const char* text :
         {"%0d%0aX-Evil:%201", "%0aX-Evil:%201", "%0dX-Evil:%201", "a%00b", "%0d%0a%0d%0a<html>"}) {
        CAPTURE(text);
        const RawReply reply = ask(t.unix_target(), get("/?to=" + std::string(text)));
        CHECK(reply.body == "ok");
        CHECK(reply.head.find("\nX-Evil") == std::string::npos);
        CHECK(reply.head.find('\0') == std::string::npos);
    }
}

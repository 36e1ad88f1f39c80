#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/socket/host_address.h"

using namespace svc;

namespace {

Route route(Method method, const std::string& path, const std::string& label) {
    return Route{
        method, path, Access::everyone, Dispatch::on_io_thread, label, [](Request&) { return Response(); }};
}

std::string label_of(const Router::Match& match) {
    return match.route != nullptr ? match.route->label : match.path_known ? "(method)" : "(none)";
}

}  // namespace

TEST_CASE("a status finds its error code also where others made it") {
    const auto [status, code] = GENERATE(table<int, ErrorCode>({{400, ErrorCode::invalid_argument},
                                                                {401, ErrorCode::unauthenticated},
                                                                {403, ErrorCode::forbidden},
                                                                {404, ErrorCode::not_found},
                                                                {409, ErrorCode::conflict},
                                                                {412, ErrorCode::precondition_failed},
                                                                {413, ErrorCode::invalid_argument},
                                                                {500, ErrorCode::internal},
                                                                {501, ErrorCode::internal},
                                                                {502, ErrorCode::unavailable},
                                                                {503, ErrorCode::unavailable},
                                                                {302, ErrorCode::internal}}));
    CHECK(error_code_of_status(status) == code);
}

TEST_CASE("hosts have numbers") {
    const auto [host, address] = GENERATE(table<std::string, std::string>(
        {{"localhost", "127.0.0.1"}, {"192.0.2.7", "192.0.2.7"}, {"2001:db8::1", "2001:db8::1"}}));
    CHECK(host_address(host) == address);
}

TEST_CASE("a host that is not found is named") {
    CHECK_THROWS_WITH(host_address("no..invalid"), Catch::StartsWith("cannot look up host 'no..invalid': "));
}

TEST_CASE("router prefers written segments and captures the rest") {
    const Router router({route(Method::get, "/", "root"), route(Method::get, "/1.0/images", "images"),
                         route(Method::get, "/1.0/images/{id}", "image"),
                         route(Method::post, "/1.0/images/sync", "sync"),
                         route(Method::delete_, "/1.0/images/{id}/{version}", "version")});
    CHECK(label_of(router.match(Method::get, "/")) == "root");
    CHECK(label_of(router.match(Method::get, "/1.0/images/")) == "images");
    CHECK(label_of(router.match(Method::head, "/1.0/images")) == "images");
    CHECK(label_of(router.match(Method::post, "/1.0/images/sync")) == "sync");
    CHECK(label_of(router.match(Method::get, "/1.0/images/sync")) == "image");
    CHECK(label_of(router.match(Method::post, "/1.0/images")) == "(method)");
    CHECK(label_of(router.match(Method::get, "/1.0//images")) == "(none)");
    CHECK(label_of(router.match(Method::get, "/1.0/images/a/b/c")) == "(none)");
    CHECK(label_of(router.match(Method::get, "1.0/images")) == "(none)");
    const auto match = router.match(Method::delete_, "/1.0/images/abc/2");
    CHECK(label_of(match) == "version");
    CHECK(match.params == std::map<std::string, std::string>{{"id", "abc"}, {"version", "2"}});
}

TEST_CASE("router refuses the same route twice") {
    CHECK_THROWS_AS(Router({route(Method::get, "/a/{x}", "one"), route(Method::get, "/a/{y}", "two")}),
                    Error);
}

TEST_CASE("headers are found without regard to case and set once") {
    Headers headers;
    headers.add("X-One", "1");
    headers.add("x-one", "2");
    CHECK(headers.get("X-ONE") == "1");
    headers.set("X-one", "3");
    CHECK(std::distance(headers.begin(), headers.end()) == 1);
    CHECK(headers.get("x-one") == "3");
    CHECK(headers.find("X-Two") == nullptr);
}

TEST_CASE("target reads the three kinds of address") {
    CHECK(Target::parse("unix:///run/svc/unix.socket").unix_path == "/run/svc/unix.socket");
    const auto secure = Target::parse("https://[::1]:8444/");
    CHECK(secure.host == "::1");
    CHECK(secure.port == 8444);
    CHECK(secure.tls);
    CHECK(secure.describe() == "https://[::1]:8444");
    CHECK_FALSE(Target::parse("http://localhost:1").tls);
    CHECK(Target::parse("https://example").port == 443);
    for (const auto* bad :
         {"", "ftp://x", "https://", "https://:1", "https://h:0", "https://h:x", "https://h:70000",
          "https://h/p", "unix://relative", "https://[::1", "https://u@h"})
        CHECK_THROWS_AS(Target::parse(bad), Error);
}

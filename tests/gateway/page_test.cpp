#include <catch2/catch.hpp>

#include "libsvc/net/client/direct_call.h"
#include "server/gateway/web_files.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

TEST_CASE("the page is served to everybody with a strict policy") {
    TestGateway gateway;
    const ApiReply page = gateway.caller().get("/");
    REQUIRE(page.status == 200);
    CHECK(page.headers.get("Content-Type") == "text/html; charset=utf-8");
    CHECK(page.headers.get("X-Content-Type-Options") == "nosniff");
    const std::string policy = page.headers.get("Content-Security-Policy");
    CHECK(policy.find("default-src 'none'") != std::string::npos);
    CHECK(policy.find("connect-src 'self' ws: wss:") != std::string::npos);
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(page.text.starts_with("<!"));
    CHECK(page.text.find("<script>") == std::string::npos);
}

TEST_CASE("pages that are named, and no others, may have the page in a frame") {
    const auto policy_of = [](const std::vector<std::string>& ancestors) {
        TestGateway gateway([&](gateway::Options& options) { options.frame_ancestors = ancestors; });
        return gateway.caller().get("/").headers.get("Content-Security-Policy");
    };
    CHECK(policy_of({}).ends_with("; frame-ancestors 'none'"));
    CHECK(policy_of({"https://a.example:8444", "https://b.example"})
              .ends_with("; frame-ancestors https://a.example:8444 https://b.example"));
}

TEST_CASE("every file of the page comes whole with its type") {
    TestGateway gateway;
    ApiCaller caller = gateway.caller();
    const std::filesystem::path folder = std::filesystem::path(SVC_TESTS_DIR) / ".." / "server/gateway/web";
    for (const server::WebFile& file : gateway::web_files()) {
        INFO(file.path);
        const ApiReply reply = caller.get(file.path == "index.html" ? "/" : "/web/" + std::string(file.path));
        CHECK(reply.status == 200);
        CHECK(reply.headers.get("Content-Type") == std::string(file.content_type));
        CHECK((reply.text == read_file(folder / file.path)));
    }
    CHECK(caller.get("/web/nothing.js").status == 404);
}

TEST_CASE("a file that has not changed is not sent again") {
    TestGateway gateway;
    const auto ask = [&](const std::string& known) {
        ClientRequest request;
        request.path = "/";
        if (!known.empty()) request.headers.set("If-None-Match", known);
        return call_directly(gateway.target(), request);
    };
    const std::string etag = ask("").headers.get("ETag");
    REQUIRE_FALSE(etag.empty());
    for (const std::string& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
        const ClientReply reply = ask(known);
        CHECK(reply.status == 304);
        CHECK(reply.body.empty());
        CHECK(reply.headers.get("ETag") == etag);
    }
    CHECK(ask("\"other\"").status == 200);
}

}  // namespace svc::test

// The console as files: what its pages may load, and from where. Its pages themselves: tests/console.
#include <catch2/catch.hpp>

#include "libsvc/net/client/direct_call.h"
#include "tests/support/skip.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct ConsoleSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();

    bool has_console() { return api.get("/ui").status == 200; }
    std::string policy(const std::string& path = "/ui") {
        return api.get(path).headers.get("Content-Security-Policy");
    }
};

const std::string gateway = "https://gateway.example:4000";

}  // namespace

TEST_CASE_METHOD(ConsoleSetup, "the console has frames of itself and of the gateway that is configured") {
    if (!has_console()) return skip("needs a build with the console");
    CHECK(policy().ends_with("; frame-src 'self'"));
    api.set("console.gateway_url", gateway);
    CHECK(policy().ends_with("; frame-src 'self' " + gateway));
    CHECK(policy("/ui/terminal.html").find(gateway) == std::string::npos);
    CHECK(api.get("/1.0/config").metadata().at("config").at("console.gateway_url") == Json(gateway));
    api.set("console.gateway_url", "");
    CHECK(policy().ends_with("; frame-src 'self'"));
}

TEST_CASE_METHOD(ConsoleSetup, "a browser does not keep a page whose policy has changed") {
    if (!has_console()) return skip("needs a build with the console");
    ClientRequest request;
    request.path = "/ui";
    request.headers.set("If-None-Match", api.get("/ui").headers.get("ETag"));
    CHECK(call_directly(daemon.local_target(), request).status == 304);
    api.set("console.gateway_url", gateway);
    CHECK(call_directly(daemon.local_target(), request).status == 200);
}

TEST_CASE_METHOD(ConsoleSetup, "a gateway of the console is an origin, or refused with the rule") {
    for (const char* value : {"http://gateway.example", "https://gateway.example/page",
                              "https://gateway.example; script-src *", "https://*"}) {
        const Json body = Json::object({{"name", "console.gateway_url"}, {"value", value}});
        const ApiReply reply = api.patch("/1.0/config", body);
        CHECK(reply.status == 400);
        CHECK(reply.error() == "argument console.gateway_url is invalid: '" + std::string(value) +
                                   "' is not an origin https://HOST or https://HOST:PORT, without a path");
    }
}

}  // namespace svc::test

#pragma once
// What the rows of docs/errors.md are provoked on.
#include <functional>
#include <map>
#include <string>

#include "libsvc/base/strings.h"
#include "tests/api/header.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

// Starts take an hour.
inline void never_starting(server::Options& options) {
    options.simulated.start_delay = std::chrono::hours(1);
    options.shutdown_grace = Duration(0);
}

// A service with one of each: image `base`, addon `ssh`, application `candy` that uses it, an instance.
struct World {
    TestDaemon daemon{[](server::Options& options) { options.max_body = 100'000; }};
    ApiCaller& api = daemon.api();
    std::string image = image_package();
    std::string addon = addon_package();
    std::string application = application_package("candy", "addons: [ssh]\n");
    KeyPair keys = make_key_pair(daemon.path(), "client");
    ApiCaller stranger{daemon.tls_target(keys)};
    ApiCaller inside{daemon.agent_target()};
    std::string instance;

    World() {
        api.add_image("base", image);
        api.add_addon("ssh", addon);
        api.add_application(application);
        instance = api.launch("base");
    }
    ApiReply launch(const std::string& rest) {
        return post("/1.0/containers", R"({"image_id":"base","instance_type":"a2.3")" + rest + "}");
    }
    ApiReply post(const std::string& path, const std::string& body) {
        return api.call(Method::post, path, body);
    }
    ApiReply patch(const std::string& path, const std::string& body) {
        return api.call(Method::patch, path, body);
    }
    ApiReply add_image(const std::string& package, const std::string& request = R"({"name":"new"})",
                       const Headers& headers = {}) {
        return api.upload(Method::post, "/1.0/images", request, package, headers);
    }
    ApiReply add_addon(const std::string& package, const std::string& request = R"({"name":"new"})") {
        return api.upload(Method::post, "/1.0/addons", request, package);
    }
    ApiReply add_application(const std::string& package) {
        return api.upload(Method::post, "/1.0/applications", "", package);
    }
    std::string operation() {
        return "/" + api.get("/1.0/operations").metadata().at("success").as_array().at(0).as_string();
    }
    std::string exec_operation() {
        return post("/1.0/containers/" + instance + "/exec", R"({"command":["cat"]})").operation();
    }
    ApiReply socket(const std::string& secret) {
        Headers headers = header("Upgrade", "websocket");
        headers.set("Connection", "Upgrade");
        headers.set("Sec-WebSocket-Version", "13");
        headers.set("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg==");
        return api.call(Method::get, exec_operation() + "/websocket" + secret, "", headers);
    }
    ApiReply stop() {
        const std::string url = "/1.0/containers/" + api.launch("base");
        api.succeed(patch(url, R"({"desired_status":"stopped"})"));
        return post(url + "/exec", R"({"command":["cat"]})");
    }
    // Pauses an instance and asks for more.
    ApiReply pause(const std::string& more, const std::string& body) {
        const std::string url = "/1.0/containers/" + api.launch("base");
        api.succeed(patch(url, R"({"desired_status":"paused"})"));
        return more.empty() ? patch(url, body) : post(url + more, body);
    }
    ApiReply screenshot(const std::string& status) {  // of an instance that was brought to it; "": running
        const std::string url = "/1.0/instances/" + api.launch("base");
        if (!status.empty()) api.succeed(patch(url, R"({"desired_status":")" + status + "\"}"));
        return api.get(url + "/screenshot");
    }
    ApiReply artifact(const std::string& token) {
        return inside.call(Method::get, "/1.0/artifacts/" + std::string(64, '0'), "",
                           header("Authorization", token));
    }
    ApiReply report() {
        return inside.call(Method::patch, "/1.0/containers/" + instance, R"({"status":"running"})",
                           header("Authorization", daemon.bearer(instance)));
    }
    ApiReply password_of_instance() {
        TestDaemon other([](server::Options& options) { options.simulated.subnet = "127.0.0.2/8"; });
        ApiCaller instance(other.tls_target(keys));
        return instance.post("/1.0/certificates", Json::object({{"trust-password", "x"}}));
    }
    // A right one makes the address as good as new. What is added is known already.
    ApiReply many_passwords() {
        TestDaemon other;
        other.api().set("core.trust_password", "secret");
        const KeyPair known = make_key_pair(other.path(), "known");
        other.trust(known);
        ApiCaller caller(other.tls_target(keys));
        Json asked = Json::object({{"certificate", read_file(known.certificate)}});
        ApiReply reply;
        for (int i = 0; i < 200 && reply.text.find("too many") == std::string::npos; ++i) {
            asked.set("trust-password", i % 5 == 4 ? "secret" : "wrong");
            reply = caller.post("/1.0/certificates", asked);
        }
        return reply;
    }
    // Where bodies may be longer.
    ApiReply large_launch() {
        TestDaemon roomy;
        roomy.api().add_image("base", image);
        const Json config = Json::object({{"features", std::string(500'000, 'x')}});
        return roomy.api().post(
            "/1.0/containers",
            Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}, {"config", config}}));
    }
    ApiReply cancel() {
        TestDaemon slow(never_starting);
        slow.api().add_image("base", image);
        const ApiReply accepted = slow.api().post(
            "/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
        slow.api().remove(accepted.operation());
        return slow.api().get(accepted.operation() + "/wait?timeout=60");
    }
    // While the first version of `candy` is being made.
    ApiReply while_bootstrapping(const std::function<ApiReply(ApiCaller&)>& ask) {
        TestDaemon slow(never_starting);
        slow.api().add_image("base", image);
        slow.api().succeed(
            slow.api().upload(Method::post, "/1.0/applications", "", application_package("candy")));
        return ask(slow.api());
    }
    ApiReply fail() {
        TestDaemon broken([](server::Options& options) { options.simulated.fail_share = 1; });
        broken.api().add_image("base", image);
        const ApiReply accepted = broken.api().post(
            "/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
        return broken.api().get(accepted.operation() + "/wait?timeout=60");
    }
};

using Provoke = std::function<ApiReply(World&)>;

using Provocations = std::map<std::string, Provoke>;

// What is not allowed in the state that things are in.
const Provocations& wrong_states();

}  // namespace svc::test

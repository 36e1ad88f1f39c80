// Provocations for docs/errors.md that need things to be in a state first. Each leaves what later rows need.
#include <filesystem>

#include "tests/api/errors_world.h"

namespace svc::test {

namespace {

const std::string candy = "/1.0/applications/candy";

// `soda`, as it comes from a registry; made once.
void take_from_registry(World& world) {
    ApiCaller& api = world.api;
    if (api.get("/1.0/applications/soda").status == 200) return;
    const auto shelf = world.daemon.path() / "shelf";
    std::filesystem::create_directory(shelf);
    api.set("registry.mode", "manual");
    api.set("registry.url", "file://" + shelf.string());
    api.add_application(application_package("soda"));
    api.succeed(api.call(Method::post, "/1.0/registry/applications/soda/push"));
    api.succeed(api.remove("/1.0/applications/soda"));
    api.succeed(api.call(Method::post, "/1.0/registry/applications/soda/pull"));
    api.settle();
    api.set("registry.url", "");
}

// With a registry that is configured like this.
ApiReply push(World& world, const std::string& url) {
    world.api.set("registry.mode", "pull");
    world.api.set("registry.url", url);
    const ApiReply reply = world.api.call(Method::post, "/1.0/registry/applications/candy/push");
    world.api.set("registry.url", "");
    return reply;
}

// While another image is the default.
ApiReply remove_base(World& world, bool is_default) {
    if (world.api.get("/1.0/images/second").status == 404)
        world.api.add_image("second", image_package({.text = "second"}));
    const auto prefer = [&](const std::string& image) {
        world.api.succeed(world.patch("/1.0/images/" + image, R"({"default":true})"));
    };
    prefer(is_default ? "base" : "second");
    const ApiReply reply = world.api.remove("/1.0/images/base");
    prefer("base");
    return reply;
}

ApiReply launch_on_unschedulable(World& world) {
    const auto set = [&](const char* value) {
        world.api.succeed(world.patch("/1.0/nodes/node0", std::string(R"({"unscheduable":)") + value + "}"));
    };
    set("true");
    const ApiReply reply = world.launch(R"(,"node":"node0")");
    set("false");
    return reply;
}

ApiReply stop_and(World& world, const std::string& wish) {
    const std::string url = "/1.0/containers/" + world.api.launch("base");
    world.api.succeed(world.patch(url, R"({"desired_status":"stopped"})"));
    return world.patch(url, Json::object({{"desired_status", wish}}).dump());
}

}  // namespace

const Provocations& wrong_states() {
    static const Provocations all{
        {"last-application-version", [](World& w) { return w.api.remove(candy + "/0"); }},
        {"default-image-unset", [](World& w) { return w.patch("/1.0/images/base", R"({"default":false})"); }},
        {"default-image", [](World& w) { return remove_base(w, true); }},
        {"image-in-use", [](World& w) { return remove_base(w, false); }},
        {"not-from-a-server", [](World& w) { return w.patch("/1.0/images/base", R"({"force_sync":true})"); }},
        {"no-image-server",
         [](World& w) {
             return w.api.call(Method::post, "/1.0/images", R"({"name":"new","path":"new"})",
                               header("Content-Type", "application/json"));
         }},
        {"already-stopped", [](World& w) { return stop_and(w, "stopped"); }},
        {"pause-not-running", [](World& w) { return stop_and(w, "paused"); }},
        {"unschedulable-node", [](World& w) { return launch_on_unschedulable(w); }},
        {"node-exists",
         [](World& w) { return w.post("/1.0/nodes", R"({"name":"node0","address":"10.0.0.12"})"); }},
        {"wrong-mode", [](World& w) { return push(w, "file://" + w.daemon.path().string()); }},
        {"registry-not-trusted", [](World& w) { return push(w, "https://127.0.0.1:1"); }},
        {"immutable-change",
         [](World& w) {
             take_from_registry(w);
             return w.patch("/1.0/applications/soda", R"({"tags":["x"]})");
         }},
        {"immutable-deletion",
         [](World& w) {
             take_from_registry(w);
             return w.api.remove("/1.0/applications/soda");
         }},
        {"publish-too-early",
         [](World& w) {
             return w.while_bootstrapping([](ApiCaller& api) {
                 return api.call(Method::patch, candy + "/0", R"({"published":true})");
             });
         }},
        {"export-too-early",
         [](World& w) {
             return w.while_bootstrapping([](ApiCaller& api) { return api.get(candy + "/0"); });
         }},
        {"launch-too-early",
         [](World& w) {
             return w.while_bootstrapping([](ApiCaller& api) {
                 return api.call(Method::post, "/1.0/containers", R"({"app_id":"candy","app_version":0})");
             });
         }},
        {"nothing-published",
         [](World& w) {
             return w.while_bootstrapping([](ApiCaller& api) {
                 return api.call(Method::post, "/1.0/containers", R"({"app_id":"candy"})");
             });
         }},
    };
    return all;
}

}  // namespace svc::test

// Launches, starts, stops, deletions, commands and snapshots of few instances that all clients share.
#include "tests/model/random_client.h"

namespace svc::test {

namespace {

constexpr int names = 5;

std::string any_instance(RandomClient& client) {
    return client.pick_name("inst", names);
}

std::string url_of(RandomClient& client, const std::string& name) {
    return (client.chance(50) ? "/1.0/instances/" : "/1.0/containers/") + name;
}

Json service_entry(RandomClient& client) {
    return Json::object({{"name", client.pick_name("web", 2)},
                         {"port", 80 + client.pick(4)},
                         {"protocols", Json::array({"tcp"})},
                         {"expose", client.chance(50)}});
}

void launch(RandomClient& client) {
    const std::string name = any_instance(client);
    Json body = Json::object({{"name", name}});
    if (client.chance(50)) {
        body.set("app_id", client.pick_name("a", 2));
        if (client.chance(20)) body.set("app_version", client.pick(4));
    } else {
        body.set("image_id", client.pick_name("m", 2));
        body.set("instance_type", client.chance(80) ? "a2.3" : "a4.3");
        if (client.chance(20)) body.set("addons", Json::array({client.pick_name("d", 2)}));
    }
    if (client.chance(60)) body.set("services", Json::array({service_entry(client)}));
    if (client.chance(10)) body.set("no_start", true);
    const bool no_wait = client.chance(20);
    client.call("instances.launch", name, Method::post,
                client.chance(50) ? "/1.0/instances" + std::string(no_wait ? "?no_wait=true" : "")
                                  : "/1.0/containers",
                body);
}

void launch_unnamed(RandomClient& client) {
    client.call("instances.launch", "", Method::post, "/1.0/instances",
                Json::object({{"image_id", "m0"}, {"instance_type", "a2.3"}}));
}

void set_status(RandomClient& client, const char* verb, const char* wanted) {
    const std::string name = any_instance(client);
    client.call(std::string("instances.") + verb, name, Method::patch,
                url_of(client, name) + (client.chance(20) ? "?no_wait=true" : ""),
                Json::object({{"desired_status", wanted}}));
}

void start(RandomClient& client) {
    set_status(client, "start", "running");
}

void stop(RandomClient& client) {
    set_status(client, "stop", "stopped");
}

void pause(RandomClient& client) {
    set_status(client, "pause", "paused");
}

void remove(RandomClient& client) {
    const std::string name = any_instance(client);
    client.call("instances.delete", name, Method::delete_, url_of(client, name),
                Json::object({{"force", client.chance(30)}}));
}

void protect(RandomClient& client) {
    const std::string name = any_instance(client);
    const Json security = Json::object({{"delete_protected", client.chance(25)}});
    client.call("instances.protect", name, Method::patch, url_of(client, name),
                Json::object({{"config", Json::object({{"security", security}})}}));
}

void show(RandomClient& client) {
    const std::string name = any_instance(client);
    client.call("instances.show", name, Method::get, url_of(client, name));
}

void list(RandomClient& client) {
    client.call("instances.list", "", Method::get, "/1.0/instances?recursion=1");
}

// Its sockets never come; the end of the run cancels it.
void execute(RandomClient& client) {
    const std::string name = any_instance(client);
    client.call("instances.exec", name, Method::post, url_of(client, name) + "/exec",
                Json::object({{"command", Json::array({"true"})}}));
    if (client.chance(80)) client.cancel_recent(0);
}

std::string snapshots_of(const std::string& instance) {
    return "/1.0/instances/" + instance + "/snapshots";
}

void take_snapshot(RandomClient& client) {
    const std::string name = any_instance(client);
    const std::string snapshot = client.pick_name("snap", 2);
    client.call("snapshots.create", snapshot, Method::post, snapshots_of(name),
                Json::object({{"name", snapshot}}));
}

void restore_snapshot(RandomClient& client) {
    const std::string name = any_instance(client);
    const std::string snapshot = client.pick_name("snap", 2);
    client.call("snapshots.restore", snapshot, Method::post, snapshots_of(name) + "/" + snapshot + "/restore",
                Json::object());
}

void delete_snapshot(RandomClient& client) {
    const std::string name = any_instance(client);
    const std::string snapshot = client.pick_name("snap", 2);
    client.call("snapshots.delete", snapshot, Method::delete_, snapshots_of(name) + "/" + snapshot);
}

// The id is what the first call tells; none is a launch that is refused.
void launch_snapshot(RandomClient& client) {
    const std::string source = any_instance(client), name = any_instance(client);
    const std::string snapshot = client.pick_name("snap", 2);
    const ApiReply found =
        client.call("snapshots.show", snapshot, Method::get, snapshots_of(source) + "/" + snapshot);
    const std::string id = found.status == 200 ? found.metadata().at("id").as_string() : "none";
    client.call("instances.launch", name, Method::post, "/1.0/instances",
                Json::object({{"name", name}, {"snapshot", id}}));
}

void list_snapshots(RandomClient& client) {
    const std::string name = any_instance(client);
    client.call("snapshots.list", name, Method::get, snapshots_of(name) + "?recursion=1");
}

void read_logs(RandomClient& client) {
    const std::string name = any_instance(client);
    client.call("instances.logs", name, Method::get, url_of(client, name) + "/logs");
}

}  // namespace

std::vector<CallKind> instance_calls() {
    return {{26, launch},         {2, launch_unnamed},  {10, start},
            {14, stop},           {6, pause},           {8, remove},
            {2, protect},         {10, show},           {6, list},
            {4, execute},         {10, take_snapshot},  {5, restore_snapshot},
            {4, delete_snapshot}, {5, launch_snapshot}, {3, list_snapshots},
            {1, read_logs}};
}

}  // namespace svc::test

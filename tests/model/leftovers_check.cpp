#include "tests/model/leftovers_check.h"

#include <filesystem>

#include "tests/model/record_check.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"

namespace svc::test {

namespace {

const std::vector<std::string> all_nouns{"instances", "applications", "addons", "images", "certificates"};

std::vector<Json> listed(ApiCaller& api, const std::string& path) {
    const JsonArray records = api.get(path + "?recursion=1").metadata().as_array();
    return {records.begin(), records.end()};
}

std::string key_of(const Json& record) {
    for (const char* key : {"id", "fingerprint"})
        if (const Json* const found = record.find(key)) return found->as_string();
    return record.at("name").as_string();
}

Json node_field(const char* name, const Json& value) {
    return Json::object({{name, value}});
}

void remove_all(ApiCaller& api, const std::string& noun, Findings& findings) {
    for (const Json& record : listed(api, "/1.0/" + noun)) {
        const std::string path = "/1.0/" + noun + "/" + key_of(record);
        if (noun == "instances" && record.at("type") == Json("regular"))
            api.wait(api.patch(path, Json::parse(R"({"config":{"security":{"delete_protected":false}}})")));
        if (api.get(path).status == 404) continue;  // gone with what it belonged to
        const ApiReply reply = api.remove(path, noun == "addons" ? "" : R"({"force":true})");
        findings.expect(reply.status == 202, "cannot be deleted: " + path + ": " + reply.text);
        if (reply.status != 202) continue;
        const Json done = api.wait(reply);
        findings.expect(done.at("status_code") == Json(200), "not deleted: " + done.dump());
    }
    findings.expect(listed(api, "/1.0/" + noun).empty(), noun + " are left");
}

// The default image goes last.
void remove_images(ApiCaller& api, Findings& findings) {
    for (const Json& image : listed(api, "/1.0/images"))
        if (image.at("default") == Json(false)) {
            const Json done = api.wait(api.remove("/1.0/images/" + key_of(image), R"({"force":true})"));
            findings.expect(done.at("status_code") == Json(200), "not deleted: " + done.dump());
        }
    remove_all(api, "images", findings);
}

std::size_t files_below(const std::filesystem::path& directory) {
    std::size_t count = 0;
    if (!std::filesystem::exists(directory)) return count;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
        if (entry.is_regular_file()) ++count;
    return count;
}

// As many instances as the machine has room for, no more.
void fill(ApiCaller& api, Findings& findings) {
    constexpr int room = 12;
    api.add_image("last", image_package());
    Json body = Json::parse(
        R"({"image_id":"last","instance_type":"a2.3","services":[{"name":"s","port":1,"protocols":["tcp"]}]})");
    std::vector<ApiReply> accepted;
    for (int i = 0; i < room; ++i) accepted.push_back(api.post("/1.0/instances", body));
    int failed = 0;
    for (const ApiReply& reply : accepted) {
        const Json done = api.wait(reply);
        const std::string& err = done.at("err").as_string();
        if (err == "simulated failure to start") ++failed;
        findings.expect(err.empty() || err == "simulated failure to start", "room is lost: " + done.dump());
    }
    const auto instances = listed(api, "/1.0/instances");
    check_shares(instances, "of a full machine", findings);
    if (failed > 0) return;
    const Json full = api.wait(api.post("/1.0/instances", body));
    findings.expect(full.at("err").as_string().starts_with("No suitable node"),
                    "room for more: " + full.dump());
}

}  // namespace

Leftovers leftovers_of(ApiCaller& api) {
    Leftovers leftovers;
    for (const std::string& noun : all_nouns) leftovers.emplace(noun, listed(api, "/1.0/" + noun));
    return leftovers;
}

void remove_everything(TestDaemon& daemon, Findings& findings) {
    ApiCaller& api = daemon.api();
    api.set("application.addons", "");
    api.wait(api.patch("/1.0/nodes/node0", node_field("unscheduable", false)));
    api.wait(api.patch("/1.0/nodes/node0", node_field("cpu_allocation_rate", 4)));
    for (const int round : {0, 1}) {
        for (const char* noun : {"applications", "instances", "addons", "certificates"})
            remove_all(api, noun, findings);
        remove_images(api, findings);
        api.settle();
        if (round == 0) fill(api, findings);
    }
    daemon.restart();  // looks for snapshots without an instance
    const auto state = daemon.options().state_dir;
    for (const char* folder : {"blobs", "logs", "simulated/layers"})
        if (!eventually([&] { return files_below(state / folder) == 0; }))
            findings.add(std::to_string(files_below(state / folder)) + " files are left in " + folder);
}

}  // namespace svc::test

#include "libsvc/streaming/regions/management_records.h"

#include <algorithm>

#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/operation.h"

namespace svc {

namespace {

constexpr std::string_view session_tag = "session=";
constexpr std::string_view streams_tag = "streams";

std::string text(const Json& record, std::string_view key) {
    return JsonFields(record).string(key).value_or("");
}

JsonArray items(const Json& record, std::string_view key) {
    const Json* value = record.find(key);
    return value != nullptr && value->is_array() ? value->as_array() : JsonArray();
}

bool may_be_launched(const Json& version) {
    return JsonFields(version).boolean("published").value_or(false) && text(version, "status") == "active";
}

// Older services tell the name alone.
std::string addon_name(const Json& addon) {
    if (addon.is_string()) return addon.as_string();
    return addon.is_object() ? text(addon, "name") : "";
}

bool has_any(const Json& version, const std::vector<std::string>& addons) {
    return std::ranges::any_of(items(version, "addons"), [&](const Json& addon) {
        return std::ranges::find(addons, addon_name(addon)) != addons.end();
    });
}

// An application whose image has a streamer of its own says so by a tag.
bool says_that_it_streams(const Json& application) {
    return std::ranges::any_of(items(application, "tags"), [](const Json& tag) {
        return tag.is_string() && tag.as_string() == streams_tag;
    });
}

std::string last_part(const std::string& url) {
    return percent_decode(url.substr(url.rfind('/') + 1));
}

std::vector<std::string> instances_of_operation(const Json& operation) {
    std::vector<std::string> ids;
    const Json* resources = operation.find("resources");
    if (resources == nullptr) return ids;
    for (const auto kind : {"containers", "instances"})
        for (const Json& url : items(*resources, kind)) ids.push_back(last_part(url.as_string()));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

}  // namespace

std::string tag_of_session(const std::string& session) {
    return std::string(session_tag) + session;
}

Json launch_payload(const StreamLaunch& launch, const std::string& metrics_server) {
    Json config = Json::object({{"platform", "webrtc"}});
    if (!metrics_server.empty()) config.set("metrics_server", metrics_server);
    Json payload = Json::object({{"app_id", launch.app},
                                 {"user_data", launch.user_data.dump()},
                                 {"config", std::move(config)},
                                 {"tags", Json::array({tag_of_session(launch.session)})}});
    if (launch.app_version) payload.set("app_version", *launch.app_version);
    return payload;
}

// An application whose newest version is being made can still be launched: the last published one is taken.
std::vector<StreamApplication> launchable_applications(const JsonArray& applications,
                                                       const std::vector<std::string>& streamer_addons) {
    std::vector<StreamApplication> found;
    for (const Json& record : applications) {
        StreamApplication application{text(record, "name"), {}};
        const bool streams = streamer_addons.empty() || says_that_it_streams(record);
        for (const Json& version : items(record, "versions"))
            if (may_be_launched(version))
                application.versions[static_cast<int>(JsonFields(version).integer("number").value_or(0))] =
                    streams || has_any(version, streamer_addons);
        if (text(record, "status") != "deleted" && !application.versions.empty())
            found.push_back(std::move(application));
    }
    return found;
}

RegionLoad region_load(const JsonArray& nodes) {
    RegionLoad load;
    for (const Json& node : nodes) {
        const JsonFields fields(node);
        if (text(node, "status") != "online" || fields.boolean("unschedulable|unscheduable").value_or(false))
            continue;
        load.cpus +=
            static_cast<int>(std::clamp<std::int64_t>(fields.integer("cpus").value_or(0), 0, 1'000'000));
    }
    return load;
}

StreamInstance stream_instance(const Json& record) {
    StreamInstance instance{text(record, "id"), "", text(record, "status"), text(record, "error_message")};
    for (const Json& tag : items(record, "tags"))
        if (tag.is_string() && tag.as_string().starts_with(session_tag))
            instance.session = tag.as_string().substr(session_tag.size());
    return instance;
}

std::string failure_of_operation(const Json& record) {
    const bool failed =
        JsonFields(record).integer("status_code").value_or(0) == static_cast<int>(OperationStatus::failure);
    if (!failed) return "";
    const std::string reason = text(record, "err");
    return reason.empty() ? "Failure" : reason;
}

std::vector<std::string> instances_in_event(const Json& event) {
    const std::string type = text(event, "type");
    const Json* metadata = event.find("metadata");
    if (type == "gap") return {""};
    if (metadata == nullptr) return {};
    if (type == "lifecycle") return {last_part(text(*metadata, "source"))};
    // Before its end an operation says nothing that a lifecycle event does not.
    const bool ended = type == "operation" && JsonFields(*metadata).integer("status_code").value_or(0) >= 200;
    return ended ? instances_of_operation(*metadata) : std::vector<std::string>();
}

}  // namespace svc

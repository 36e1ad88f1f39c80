#include "libsvc/model/instances/snapshot.h"

#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr int snapshot_schema = 1;
constexpr std::array<EnumName<SnapshotStatus>, 3> snapshot_status_names{
    {{SnapshotStatus::creating, "creating"},
     {SnapshotStatus::ready, "ready"},
     {SnapshotStatus::deleting, "deleting"}}};

SnapshotStatus snapshot_status_of(const std::string& text) {
    const auto status = enum_value<SnapshotStatus>(snapshot_status_names, text);
    if (!status) throw Error(ErrorCode::internal, "unknown snapshot status " + text);
    return *status;
}

}  // namespace

std::string_view to_text(SnapshotStatus status) {
    return enum_text<SnapshotStatus>(snapshot_status_names, status);
}

std::vector<std::string> Snapshot::layers() const {
    std::vector<std::string> all = *instance.layers;
    all.push_back(layer());
    return all;
}

Json to_json(const Snapshot& snapshot) {
    const Instance& instance = snapshot.instance;
    return Json::object({{"id", snapshot.id.str()},
                         {"name", snapshot.name},
                         {"instance_id", instance.id.str()},
                         {"status", to_text(snapshot.status)},
                         {"created_at", to_unix_seconds(snapshot.created_at)},
                         {"size", snapshot.size},
                         {"app_id", *instance.app_id},
                         {"app_version", instance.app_version},
                         {"image_id", *instance.image_id},
                         {"image_version", instance.image_version}});
}

Json snapshot_to_store(const Snapshot& snapshot) {
    return Json::object({{"schema", snapshot_schema},
                         {"id", snapshot.id.str()},
                         {"name", snapshot.name},
                         {"status", to_text(snapshot.status)},
                         {"created_at", to_rfc3339(snapshot.created_at)},
                         {"size", snapshot.size},
                         {"instance", instance_to_store(snapshot.instance)}});
}

Snapshot snapshot_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Snapshot snapshot;
    snapshot.id = SnapshotId(fields.require_string("id"));
    snapshot.name = fields.string("name").value_or("");
    snapshot.status = snapshot_status_of(fields.require_string("status"));
    snapshot.created_at = from_rfc3339(fields.require_string("created_at"));
    snapshot.size = static_cast<std::uint64_t>(fields.integer("size").value_or(0));
    snapshot.instance = instance_from_store(stored.at("instance"));
    return snapshot;
}

SnapshotCreate SnapshotCreate::from_json(const Json& body) {
    SnapshotCreate request;
    request.name = JsonFields(body).string("name").value_or("");
    if (!request.name.empty()) check_instance_name("name", request.name);
    return request;
}

}  // namespace svc

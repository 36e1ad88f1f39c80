#include "libsvc/management/unreadable_records.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr const char* removal_kind = "record.remove";
constexpr std::string_view instances_prefix = RecordTraits<Instance>::prefix;

}  // namespace

UnreadableRecords::UnreadableRecords(ClusterRecords& records, Engine& engine, InstanceService& instances)
    : engine_(engine), instances_(instances) {
    add(records.images);
    add(records.instances);
    add(records.nodes);
    add(records.removed_nodes);
    add(records.addons);
    add(records.applications);
    add(records.certificates);
    add(records.join_tokens);
    add(records.sessions);
    add(records.config);
    add(records.snapshots);
    add(engine.stored());
    engine_.handle(removal_kind,
                   {[this](OperationContext& context) { return run(context.operation()); }, nullptr, true});
}

template <class T>
void UnreadableRecords::add(const Collection<T>& records) {
    kinds_.push_back({std::string(RecordTraits<T>::prefix), [&records] { return records.unreadable(); },
                      [&records](std::string_view id) { return records.find_unreadable(id); },
                      [&records](Batch& batch, std::string_view id) { records.stage_remove(batch, id); }});
}

const UnreadableRecords::Kind* UnreadableRecords::kind_of(std::string_view key) const {
    const auto kind =
        std::ranges::find_if(kinds_, [&](const Kind& each) { return key.starts_with(each.prefix); });
    return kind == kinds_.end() ? nullptr : &*kind;
}

std::vector<UnreadableRecord> UnreadableRecords::list() const {
    std::vector<UnreadableRecord> all;
    for (const Kind& kind : kinds_) std::ranges::move(kind.list(), std::back_inserter(all));
    return all;
}

std::optional<UnreadableRecord> UnreadableRecords::find(std::string_view prefix,
                                                        std::string_view id_or_name) const {
    const Kind* const kind = kind_of(prefix);
    return kind == nullptr ? std::nullopt : kind->find(id_or_name);
}

std::optional<Started> UnreadableRecords::remove(std::string_view prefix, std::string_view id_or_name,
                                                 const std::string& requestor) {
    const auto record = find(prefix, id_or_name);
    if (!record) return std::nullopt;
    OperationSpec spec;
    spec.kind = removal_kind;
    spec.description = "Deleting unreadable record";
    spec.claims = {record->key};
    spec.wait_for_claims = true;
    spec.arguments = Json::object({{"key", record->key}});
    spec.requestor = requestor;
    return engine_.start(std::move(spec), {});
}

OperationResult UnreadableRecords::run(const Operation& operation) {
    const std::string key = JsonFields(operation.arguments).require_string("key");
    const Kind* const kind = kind_of(key);
    if (kind == nullptr) throw Error(ErrorCode::internal, "record " + key + " is of no known kind");
    const std::string id = key.substr(kind->prefix.size());
    if (!kind->find(id)) return {};  // removed meanwhile
    const bool is_instance = kind->prefix == instances_prefix;
    if (is_instance) instances_.clear_unreadable(id);
    OperationResult result;
    result.stage = [kind, id](Batch& last) {
        if (kind->find(id)) kind->stage_remove(last, id);
    };
    result.after = [this, key, id, is_instance, requestor = operation.requestor] {
        log::warning("record that could not be read was removed", {{"key", key}});
        if (is_instance) instances_.tell_cleared(id, requestor);
    };
    return result;
}

void UnreadableRecords::tell() const {
    for (const UnreadableRecord& record : list())
        log::error("record cannot be read: its object is not served until it is deleted or mended",
                   {{"key", record.key}, {"error", record.reason}});
}

}  // namespace svc

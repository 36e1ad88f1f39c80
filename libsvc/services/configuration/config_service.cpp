#include "libsvc/services/configuration/config_service.h"

#include <exception>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/password.h"

namespace svc {

namespace {

constexpr const char* kind = "config.tell";
constexpr const char* earlier_kind =
    "config.set";  // of versions of this service that stored the change at the end
constexpr std::string_view password_key = "core.trust_password";

using Values = std::map<std::string, std::string, std::less<>>;

void check_addons(const ConfigPatch& patch, const Addons& addons) {
    if (patch.name != "application.addons") return;
    for (const std::string& name : split_config_list(patch.value))
        if (const auto addon = addons.get(name); addon->deleting)
            throw Error(ErrorCode::not_found, "addon not found");
}

// What is stored, also in the operation's record.
std::string stored_value(const ConfigPatch& patch) {
    if (patch.name == password_key && !patch.value.empty()) return hash_password(patch.value);
    return patch.value;
}

// "": the value can be used. A key of another version is nobody's to judge; a secret is stored as its hash.
std::string fault_of(const ConfigRecord& record) {
    try {
        const ConfigKey& key = config_key(record.name);
        if (key.type != ConfigType::secret) check_config_value(key, record.value);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) return e.what();
    }
    return "";
}

OperationSpec spec_for(const ConfigRecord& record, std::string requestor) {
    OperationSpec spec;
    spec.kind = kind;
    spec.description = "Applying configuration";
    spec.claims = {"config/" + record.name};
    spec.wait_for_claims = true;  // listeners hear of the changes of a key in the order of the requests
    spec.cancel_holders = false;
    spec.arguments = Json::object({{"name", record.name}, {"value", record.value}});
    spec.requestor = std::move(requestor);
    return spec;
}

}  // namespace

ConfigService::ConfigService(ConfigRecords& records, const Addons& addons, Engine& engine)
    : records_(records), addons_(addons), engine_(engine) {
    handle(kind, [this](const Operation& operation) { return tell_change(operation); });
    handle(earlier_kind, [this](const Operation& operation) { return make_change(operation); });
    for (const auto& record : records_.list())
        if (const std::string fault = fault_of(*record); !fault.empty())
            log::error("stored configuration cannot be used; the default counts",
                       {{"key", record->name}, {"error", fault}});
}

ConfigValues ConfigService::values() const {
    Values set;
    for (const auto& record : records_.list())
        if (fault_of(*record).empty()) set.emplace(record->name, record->value);
    return ConfigValues(std::move(set));
}

// One at a time: the entity tag covers all records, while the commit expects only one of them.
Started ConfigService::patch(const ConfigPatch& patch, std::string requestor, const Precondition& unchanged) {
    check_config_value(config_key(patch.name), patch.value);
    check_addons(patch, addons_);
    const ConfigRecord record{patch.name, stored_value(patch)};
    const std::lock_guard lock(changing_);
    if (unchanged) unchanged(etag());
    Batch batch;
    stage(batch, record);
    return engine_.start(spec_for(record, std::move(requestor)), std::move(batch));
}

std::string ConfigService::etag() const {
    return sha256_hex(values().to_json().dump());
}

void ConfigService::on_change(std::string_view key, std::function<void()> listener) {
    config_key(key);
    listeners_[std::string(key)].push_back(std::move(listener));
}

bool ConfigService::check_trust_password(std::string_view password) const {
    const auto record = records_.find(password_key);
    return record && check_password(password, record->value);
}

void ConfigService::handle(const char* name, std::function<OperationResult(const Operation&)> work) {
    OperationHandler handler;
    handler.run = [work = std::move(work)](OperationContext& context) { return work(context.operation()); };
    handler.resumable = true;
    engine_.handle(name, std::move(handler));
}

// The change is stored with the operation's record: only the listeners are left to be called.
OperationResult ConfigService::tell_change(const Operation& operation) {
    OperationResult result;
    result.after = [this, name = JsonFields(operation.arguments).require_string("name")] {
        log::info("configuration changed", {{"key", name}});
        tell(name);
    };
    return result;
}

OperationResult ConfigService::make_change(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    const ConfigRecord record{fields.require_string("name"), fields.require_string("value")};
    OperationResult result = tell_change(operation);
    result.stage = [this, record](Batch& last) { stage(last, record); };
    return result;
}

void ConfigService::stage(Batch& last, const ConfigRecord& record) {
    if (record.value.empty())
        records_.stage_remove(last, record.name);
    else if (records_.find(record.name))
        records_.stage_update(last, record.name, [&](ConfigRecord& stored) { stored = record; });
    else
        records_.stage_overwrite(last, record);
}

void ConfigService::tell(const std::string& key) {
    const auto found = listeners_.find(key);
    if (found == listeners_.end()) return;
    for (const auto& listener : found->second) {
        try {
            listener();
        } catch (const std::exception& e) {
            log::error("a change of the configuration was not taken up", {{"key", key}, {"error", e.what()}});
        }
    }
}

}  // namespace svc

#include "libsvc/services/configuration/config_service.h"

#include <mutex>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/password.h"

namespace svc {

namespace {

constexpr const char* kind = "config.tell";
constexpr const char* earlier_kind = "config.set";  // of a version that stored the change at the end
constexpr std::string_view password_key = "core.trust_password";

using Values = std::map<std::string, std::string, std::less<>>;

void check_addons(const ConfigPatch& patch, const Addons& addons) {
    if (patch.name != "application.addons") return;
    for (const std::string& name : split_config_list(patch.value))
        if (const auto addon = addons.get(name); addon->deleting)
            throw Error(ErrorCode::not_found, "addon not found");
}

// What is stored, and stands in the operation's record.
std::string stored_value(const ConfigPatch& patch) {
    if (patch.name == password_key && !patch.value.empty()) return hash_password(patch.value);
    return patch.value;
}

}  // namespace

class ConfigService::Implementation {
  public:
    Implementation(ConfigRecords& records, const Addons& addons, Engine& engine)
        : records_(records), addons_(addons), engine_(engine) {
        handle(kind, [this](const Operation& operation) { return tell_change(operation); });
        handle(earlier_kind, [this](const Operation& operation) { return make_change(operation); });
    }

    ConfigValues values() const {
        Values set;
        for (const auto& record : records_.list()) set.emplace(record->name, record->value);
        return ConfigValues(std::move(set));
    }

    // One at a time: the entity tag is that of all records together, of which a change meets only one.
    Started patch(const ConfigPatch& patch, std::string requestor, const Precondition& unchanged) {
        check_config_value(config_key(patch.name), patch.value);
        check_addons(patch, addons_);
        const ConfigRecord record{patch.name, stored_value(patch)};
        const std::lock_guard lock(changing_);
        if (unchanged) unchanged(etag());
        Batch batch;
        stage(batch, record);
        return engine_.start(spec_for(record, std::move(requestor)), std::move(batch));
    }

    std::string etag() const { return sha256_hex(values().to_json().dump()); }

    void on_change(std::string_view key, std::function<void()> listener) {
        config_key(key);
        listeners_[std::string(key)].push_back(std::move(listener));
    }

    bool check_trust_password(std::string_view password) const {
        const auto record = records_.find(password_key);
        return record && check_password(password, record->value);
    }

  private:
    void handle(const char* name, std::function<OperationResult(const Operation&)> work) {
        OperationHandler handler;
        handler.run = [work = std::move(work)](OperationContext& context) {
            return work(context.operation());
        };
        handler.resumable = true;
        engine_.handle(name, std::move(handler));
    }

    static OperationSpec spec_for(const ConfigRecord& record, std::string requestor) {
        OperationSpec spec;
        spec.kind = kind;
        spec.description = "Applying configuration";
        spec.claims = {"config/" + record.name};
        spec.wait_for_claims = true;  // changes of one key are told of in the order they came in
        spec.cancel_holders = false;
        spec.arguments = Json::object({{"name", record.name}, {"value", record.value}});
        spec.requestor = std::move(requestor);
        return spec;
    }

    // The change is stored with the operation's record: what is left is to tell of it.
    OperationResult tell_change(const Operation& operation) {
        OperationResult result;
        result.after = [this, name = JsonFields(operation.arguments).require_string("name")] {
            log::info("configuration changed", {{"key", name}});
            tell(name);
        };
        return result;
    }

    OperationResult make_change(const Operation& operation) {
        const JsonFields fields(operation.arguments);
        OperationResult result = tell_change(operation);
        result.stage = [this,
                        record = ConfigRecord{fields.require_string("name"), fields.require_string("value")}](
                           Batch& last) { stage(last, record); };
        return result;
    }

    void stage(Batch& last, const ConfigRecord& record) {
        if (record.value.empty())
            records_.stage_remove(last, record.name);
        else if (records_.find(record.name))
            records_.stage_update(last, record.name, [&](ConfigRecord& stored) { stored = record; });
        else
            records_.stage_create(last, record);
    }

    void tell(const std::string& key) {
        const auto found = listeners_.find(key);
        if (found == listeners_.end()) return;
        for (const auto& listener : found->second) {
            try {
                listener();
            } catch (const std::exception& e) {
                log::error("a change of the configuration was not taken up",
                           {{"key", key}, {"error", e.what()}});
            }
        }
    }

    ConfigRecords& records_;
    const Addons& addons_;
    Engine& engine_;
    std::mutex changing_;
    std::map<std::string, std::vector<std::function<void()>>>
        listeners_;  // complete before the engine starts
};

ConfigService::ConfigService(ConfigRecords& records, const Addons& addons, Engine& engine)
    : implementation_(std::make_unique<Implementation>(records, addons, engine)) {}
ConfigService::~ConfigService() = default;

ConfigValues ConfigService::values() const {
    return implementation_->values();
}

Started ConfigService::patch(const ConfigPatch& patch, std::string requestor, const Precondition& unchanged) {
    return implementation_->patch(patch, std::move(requestor), unchanged);
}

void ConfigService::on_change(std::string_view key, std::function<void()> listener) {
    implementation_->on_change(key, std::move(listener));
}

bool ConfigService::check_trust_password(std::string_view password) const {
    return implementation_->check_trust_password(password);
}

std::string ConfigService::etag() const {
    return implementation_->etag();
}

}  // namespace svc

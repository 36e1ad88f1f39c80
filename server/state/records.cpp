#include "server/state/records.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/model/cluster/config.h"
#include "libsvc/operations/records.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/browser_session_records.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/common/snapshot_records.h"
#include "libsvc/store/store.h"

namespace svc::server::state {

namespace {

constexpr std::string_view names_prefix = "names/";
constexpr std::string_view copies_prefix = "unreadable/";

std::string version_of(const std::string& what, int version) {
    return what + ", version " + std::to_string(version);
}

}  // namespace

StoredValues read_values(SqliteConnection& connection) {
    StoredValues values;
    SqliteStatement all(connection, "SELECT key, value, revision FROM entries ORDER BY key");
    while (all.step()) values[all.column_text(0)] = {all.column_text(1), all.column_int(2)};
    return values;
}

Records::Records(const StoredValues& values) {
    for (const auto& [key, stored] : values) take(key, stored.value);
    collect_content();
}

// True: the key is of this noun, whether or not its record can be read.
template <class T>
bool Records::decode(const std::string& key, const std::string& value, std::map<std::string, T>& into) {
    using Traits = RecordTraits<T>;
    if (!key.starts_with(Traits::prefix)) return false;
    try {
        const auto record = detail::decode_record<T>(key, value);
        if (const std::string name = Traits::name(*record); !name.empty())
            wanted_names[std::string(Traits::prefix) + name] = Traits::id(*record);
        into.emplace(key.substr(Traits::prefix.size()), *record);
    } catch (const Error& e) {
        broken.push_back({key, e.what(), e.code() == ErrorCode::unsupported});
    }
    return true;
}

void Records::take(const std::string& key, const std::string& value) {
    std::map<std::string, JoinToken> tokens;  // nothing else refers to these three
    std::map<std::string, BrowserSession> sessions;
    std::map<std::string, ConfigRecord> configuration;
    const bool known =
        decode(key, value, images) || decode(key, value, addons) || decode(key, value, applications) ||
        decode(key, value, instances) || decode(key, value, snapshots) || decode(key, value, nodes) ||
        decode(key, value, certificates) || decode(key, value, operations) || decode(key, value, tokens) ||
        decode(key, value, sessions) || decode(key, value, configuration);
    for (const auto& [name, setting] : configuration) judge(setting);
    if (known) return;
    if (key.starts_with(names_prefix))
        names[key.substr(names_prefix.size())] = value;
    else
        (key.starts_with(copies_prefix) ? copies : unknown).push_back(key);
}

void Records::judge(const ConfigRecord& setting) {
    try {
        const ConfigKey& item = config_key(setting.name);
        if (item.type != ConfigType::secret) check_config_value(item, setting.value);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found)
            invalid_settings.push_back({"config/" + setting.name, e.what()});
    }
}

bool Records::is_claimed(const std::string& claim) const {
    return std::ranges::any_of(operations, [&](const auto& each) {
        return !is_final(each.second.status) &&
               std::ranges::find(each.second.claims, claim) != each.second.claims.end();
    });
}

void Records::collect_content() {
    for (const auto& [id, image] : images)
        for (const ImageVersion& version : image.versions) {
            const std::string what = version_of("image " + image.name, version.version);
            const bool complete = version.status == ImageStatus::active;
            if (complete) blobs.emplace(version.fingerprint, what);
            if (complete) layers.emplace(version.layer(), what);
            expected_blobs.insert(version.fingerprint);
            expected_layers.insert(version.layer());
        }
    for (const auto& [name, addon] : addons)
        for (const AddonVersion& version : addon.versions) {
            if (!version.deleting)
                blobs.emplace(version.fingerprint, version_of("addon " + name, version.version));
            expected_blobs.insert(version.fingerprint);
        }
    for (const auto& [id, application] : applications)
        for (const ApplicationVersion& version : application.versions) {
            ContentReferences content = content_of(application, version);
            const std::string what = version_of("application " + application.name, version.number);
            if (version.status == ImageStatus::active && !application.deleting) {
                for (const std::string& blob : content.blobs) blobs.emplace(blob, what);
                for (const std::string& layer : version.layers()) layers.emplace(layer, what);
            }
            for (const std::string& blob : content.blobs) expected_blobs.insert(blob);
            for (const std::string& layer : content.layers) expected_layers.insert(layer);
            for (const std::string& layer : version.layers()) expected_layers.insert(layer);
        }
    for (const auto& [id, snapshot] : snapshots) {
        if (snapshot.status == SnapshotStatus::ready) layers.emplace(snapshot.layer(), "snapshot " + id);
        expected_layers.insert(snapshot.layer());
        expected_layers.insert(snapshot.instance.layers.begin(), snapshot.instance.layers.end());
    }
    for (const auto& [id, instance] : instances) {
        for (const std::string& layer : *instance.layers) {
            if (instance.status != InstanceStatus::deleted) layers.emplace(layer, "instance " + id);
            expected_layers.insert(layer);
        }
        for (const StoredLog& log : instance.stored_logs) expected_blobs.insert(log.digest);
    }
    expected_blobs.erase("");
    for (auto* content : {&blobs, &layers}) content->erase("");
}

}  // namespace svc::server::state

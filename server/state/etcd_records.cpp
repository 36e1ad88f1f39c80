#include "server/state/etcd_records.h"

#include <algorithm>
#include <map>

#include "libsvc/base/error.h"

namespace svc::server::state {

namespace {

constexpr int oldest_schema = 1;

// Of what is no object: the oldest. Names are ids alone.
int schema_of(const std::string& value) {
    try {
        const Json record = Json::parse(value);
        const Json* const schema = record.find("schema");
        return schema != nullptr && schema->is_integer() ? static_cast<int>(schema->as_int()) : oldest_schema;
    } catch (const Error&) {
        return oldest_schema;
    }
}

}  // namespace

StoredValues read_etcd(const EtcdOptions& options) {
    SystemClock clock;
    etcd::Cluster cluster(options, clock);
    const etcd::Keys keys(options.root);
    etcd::refuse_during_import(cluster, keys);
    StoredValues values;
    for (auto& [key, entry] : etcd::read_records(cluster, keys))
        values[key] = {std::move(entry.value), entry.revision};
    return values;
}

void refuse_unfinished_import(const EtcdOptions& options) {
    SystemClock clock;
    etcd::Cluster cluster(options, clock);
    etcd::refuse_during_import(cluster, etcd::Keys(options.root));
}

EtcdImport::EtcdImport(const EtcdOptions& options, const std::string& name)
    : cluster_(options, clock_), import_(cluster_, options.root, name) {}

void EtcdImport::finish(const StoredValues& values) {
    std::map<std::string, std::string> records;
    int newest = oldest_schema;
    for (const auto& [key, stored] : values) {
        records.emplace(key, stored.value);
        newest = std::max(newest, schema_of(stored.value));
    }
    import_.put(records);
    import_.finish(newest);
}

}  // namespace svc::server::state

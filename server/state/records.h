#pragma once
// All records of a database at one moment, decoded as far as they can be.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libsvc/model/cluster/certificate.h"
#include "libsvc/model/cluster/node.h"
#include "libsvc/model/cluster/operation.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/model/instances/snapshot.h"
#include "libsvc/model/packages/addon.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/services/common/records.h"
#include "libsvc/store/sqlite/statement.h"

namespace svc::server::state {

struct StoredValue {
    std::string value;
    std::uint64_t revision = 0;
};
using StoredValues = std::map<std::string, StoredValue, std::less<>>;  // by key

// Throws Error for a database that cannot be read to its end.
StoredValues read_values(SqliteConnection& connection);

struct BrokenRecord {
    std::string key, reason;
    bool newer = false;  // written by a newer version: nothing is wrong with it
};

// One thread. Immutable after construction.
struct Records {
    Records() = default;
    explicit Records(const StoredValues& values);

    std::map<std::string, Image> images;  // by id or name, as in the key
    std::map<std::string, Addon> addons;
    std::map<std::string, Application> applications;
    std::map<std::string, Instance> instances;
    std::map<std::string, Snapshot> snapshots;
    std::map<std::string, Node> nodes;
    std::map<std::string, Certificate> certificates;
    std::map<std::string, Operation> operations;
    std::map<std::string, std::string> names;         // "images/base" -> id: the index of unique names
    std::map<std::string, std::string> wanted_names;  // what the index has to be
    std::vector<BrokenRecord> broken;
    std::vector<BrokenRecord> invalid_settings;  // values of the configuration that cannot be used
    std::vector<std::string> copies;             // keys below "unreadable/"
    std::vector<std::string> unknown;            // keys of no noun

    bool is_claimed(const std::string& claim) const;  // by an operation that has not ended
    // What the records need. Only of records that can be read: see `broken`.
    std::map<std::string, std::string> blobs;   // digest -> for what: "image base, version 1"
    std::map<std::string, std::string> layers;  // name -> for what
    // The same for what is not complete yet: it may be missing.
    std::set<std::string> expected_blobs, expected_layers;

  private:
    void take(const std::string& key, const std::string& value);
    template <class T>
    bool decode(const std::string& key, const std::string& value, std::map<std::string, T>& into);
    void judge(const ConfigRecord& setting);
    void collect_content();
};

}  // namespace svc::server::state

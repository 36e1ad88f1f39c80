#include "libsvc/store/etcd/record_import.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/store/etcd/members_json.h"

namespace svc::etcd {

namespace {

constexpr const char* import_transaction_path = "/v3/kv/txn";
constexpr std::size_t changes_at_once = 100;                    // etcd takes 128
constexpr std::size_t bytes_at_once = std::size_t{512} << 10U;  // of 1.5 MiB, and base64 is longer

}  // namespace

RecordImport::RecordImport(Cluster& cluster, std::string root, std::string name)
    : cluster_(cluster), keys_(std::move(root)), name_(std::move(name)) {
    take();
}

void RecordImport::take() {
    const Page mark = read_range(cluster_, range_request({keys_.importing(), ""}));
    const bool again = !mark.entries.empty() && mark.entries[0].value == name_;
    const Page first =
        read_range(cluster_, range_request(below(keys_.root()), {.limit = 1, .keys_only = true}));
    if (!again && !first.entries.empty())
        throw Error(ErrorCode::conflict, "etcd is not empty: it has the key " + quoted(first.entries[0].key));
    Transaction transaction;
    transaction.expect(keys_.importing(), revision_of_first(mark));
    transaction.expect(keys_.owner(), 0);
    transaction.put(keys_.importing(), name_);
    const auto reply = read_transaction(cluster_.call(import_transaction_path, transaction.request()));
    if (!reply.succeeded) throw Error(ErrorCode::conflict, "somebody else has begun to use this etcd");
    mark_ = reply.revision;
}

// Safe to repeat where an answer was lost: the same values under the same mark.
void RecordImport::commit(Transaction transaction) {
    transaction.expect(keys_.importing(), mark_);
    transaction.expect(keys_.owner(), 0);
    const auto reply = read_transaction(cluster_.call(import_transaction_path, transaction.request()));
    if (!reply.succeeded)
        throw Error(ErrorCode::conflict, "a manager or another import has begun to use this etcd meanwhile");
}

void RecordImport::put(const std::map<std::string, std::string>& records) {
    Transaction batch;
    std::size_t changes = 0, bytes = 0;
    for (const auto& [key, value] : records) {
        if (changes == changes_at_once || (changes > 0 && bytes + value.size() > bytes_at_once)) {
            commit(std::exchange(batch, {}));
            changes = bytes = 0;
        }
        batch.put(keys_.record(key), value);
        ++changes;
        bytes += value.size();
    }
    if (changes > 0) commit(std::move(batch));
}

// When the answer is lost, the second attempt finds no mark: the import has ended all the same.
void RecordImport::finish(int schema) {
    Transaction transaction;
    transaction.expect(keys_.importing(), mark_);
    transaction.expect(keys_.owner(), 0);
    transaction.remove(keys_.importing());
    transaction.put(keys_.schema(), schema_text(schema));
    const auto reply = read_transaction(cluster_.call(import_transaction_path, transaction.request()));
    if (reply.succeeded) return;
    if (!read_range(cluster_, range_request({keys_.importing(), ""})).entries.empty())
        throw Error(ErrorCode::conflict, "a manager or another import has begun to use this etcd meanwhile");
}

void refuse_during_import(Cluster& cluster, const Keys& keys) {
    if (!read_range(cluster, range_request({keys.importing(), ""})).entries.empty())
        throw Error(ErrorCode::conflict,
                    "an import into etcd has not ended: let svcd import end, or run it again");
}

std::map<std::string, Entry> read_records(Cluster& cluster, const Keys& keys) {
    std::map<std::string, Entry> records;
    const std::size_t above = keys.records().size();
    read_all(cluster, below(keys.records()), false, [&](Entry entry) {
        entry.key.erase(0, above);
        records.emplace(entry.key, std::move(entry));
    });
    return records;
}

}  // namespace svc::etcd

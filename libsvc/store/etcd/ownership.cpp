#include "libsvc/store/etcd/ownership.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::etcd {

namespace {

constexpr const char* transaction_path = "/v3/kv/txn";
constexpr int max_takes = 10;  // each needs somebody else to have come and gone

std::string member_text(const std::string& description, std::string_view key) {
    try {
        return Json::parse(description).at(key).as_string();
    } catch (const Error&) {
        return "";
    }
}

}  // namespace

Ownership::Ownership(Cluster& cluster, const EtcdOptions& options, Clock& clock)
    : cluster_(cluster), options_(options), keys_(options.root), lease_(cluster, options.lease, clock) {
    take();
    lease_.keep([this](std::uint64_t lease) { return take_again(lease); });
}

std::string Ownership::described() const {
    return Json::object({{"id", options_.manager}, {"host", options_.host}}).dump();
}

void Ownership::take() {
    for (int i = 0; i < max_takes; ++i)
        if (take_from(read_range(cluster_, range_request({keys_.manager(), ""})))) return;
    throw Error(ErrorCode::busy, "several managers want the same records in etcd");
}

// False when the holder is another one by now.
bool Ownership::take_from(const Page& holder) {
    if (!holder.entries.empty() && member_text(holder.entries[0].value, "id") != options_.manager)
        throw Error(ErrorCode::busy, "the records in etcd are in use by another svcd, on host " +
                                         quoted(member_text(holder.entries[0].value, "host")));
    Transaction transaction;
    transaction.expect(keys_.manager(), revision_of_first(holder));
    transaction.put(keys_.manager(), described(), lease_.id());
    transaction.put(keys_.owner(), options_.manager);
    const auto reply = read_transaction(cluster_.call(transaction_path, transaction.request()));
    if (reply.succeeded) fence_ = reply.revision;
    return reply.succeeded;
}

// Whoever came in between would have become the owner.
bool Ownership::take_again(std::uint64_t lease) {
    Transaction transaction;
    transaction.expect(keys_.owner(), fence_);
    transaction.put(keys_.manager(), described(), lease);
    const Json reply = cluster_.call(transaction_path, transaction.request());
    if (read_transaction(reply).succeeded) return true;
    lose();
    return false;
}

void Ownership::lose() {
    if (!lost_.exchange(true) && options_.on_lost) options_.on_lost();
}

}  // namespace svc::etcd

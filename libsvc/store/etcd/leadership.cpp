#include "libsvc/store/etcd/leadership.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/store/etcd/members_json.h"
#include "libsvc/store/etcd/records_schema.h"

namespace svc::etcd {

Leadership::Leadership(Cluster& cluster, const EtcdOptions& options, const Members& members,
                       const Lease& lease)
    : cluster_(cluster), options_(options), keys_(options.root), members_(members), lease_(lease) {}

bool Leadership::take() {
    const Lead seen = members_.lead();
    const RecordsSchema schema = members_.schema();
    if (!reason_not_to_lead(schema, options_.schema).empty()) return false;
    if (!seen.holder.empty() && seen.holder != options_.manager) return false;
    const std::uint64_t known = options_.known_term ? options_.known_term() : 0;
    const std::uint64_t term = std::max({seen.term, known, seen.heard}) + 1;
    Transaction transaction;
    transaction.expect(keys_.manager(), seen.holder_revision);
    transaction.expect(keys_.owner(), seen.owner_revision);
    stage_raise(transaction, keys_, schema, options_.schema);
    transaction.put(keys_.manager(), holder_text(members_.self()), lease_.id());
    transaction.put(keys_.owner(), owner_text(options_.manager, term));
    const auto reply = read_transaction(cluster_.call(transaction_path, transaction.request()));
    if (reply.succeeded) begin(reply.revision, term);
    return reply.succeeded;
}

void Leadership::begin(Revision fence, std::uint64_t term) {
    std::lock_guard order(telling_);
    fence_ = fence;
    state_ = State::leading;
    if (options_.on_leading) options_.on_leading(term);
}

void Leadership::restore() {
    Transaction transaction;
    transaction.expect(keys_.owner(), fence_);
    transaction.put(keys_.manager(), holder_text(members_.self()), lease_.id());
    const Json reply = cluster_.call(transaction_path, transaction.request());
    if (!read_transaction(reply).succeeded) lose();
}

Revision Leadership::fence() const {
    const State state = state_;
    if (state == State::lost)
        throw Error(ErrorCode::unavailable, "another svcd has taken over the records in etcd");
    if (state == State::following) throw Error(ErrorCode::unavailable, "this manager does not lead");
    if (!in_time())
        throw Error(ErrorCode::unavailable,
                    "etcd does not renew this manager's lease: it cannot tell whether it still leads");
    return fence_;
}

void Leadership::look() {
    if (leading() && members_.lead().owner_revision > fence_) lose();
}

void Leadership::lose() {
    std::lock_guard order(telling_);
    if (state_.exchange(State::lost) == State::leading && options_.on_lost) options_.on_lost();
}

}  // namespace svc::etcd

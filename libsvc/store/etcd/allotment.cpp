#include "libsvc/store/etcd/allotment.h"

#include "libsvc/base/error.h"
#include "libsvc/store/etcd/keys.h"

namespace svc::etcd {

namespace {

constexpr const char* allot_path = "/v3/kv/txn";
constexpr int max_turns = 1000;  // each needs somebody else to have changed something

[[noreturn]] void throw_no_turn() {
    throw Error(ErrorCode::unavailable, "too many managers change the same keys in etcd at once");
}

}  // namespace

// The turn comes first in byte order: where etcd does not keep one revision for all pages, the shares are
// newer than the turn, and commit() finds out.
Allotment::Seen Allotment::see() const {
    Seen seen;
    read_all(cluster_, below(prefix_), false, [&](Entry entry) {
        if (entry.key == prefix_)
            seen.turn = entry.revision;
        else
            seen.shares[entry.key.substr(prefix_.size())] = std::move(entry.value);
    });
    return seen;
}

Allotment::Shares Allotment::list() const {
    return see().shares;
}

bool Allotment::commit(Transaction& transaction, Revision turn) {
    transaction.expect(prefix_, turn);
    transaction.put(prefix_, "");
    return read_transaction(cluster_.call(allot_path, transaction.request())).succeeded;
}

// An answer that was lost looks like a change of somebody else: the share is found as it was written.
std::string Allotment::take(const std::string& owner, const Choose& choose) {
    for (int i = 0; i < max_turns; ++i) {
        const Seen seen = see();
        std::string value = choose(seen.shares);
        const auto former = seen.shares.find(owner);
        if (former != seen.shares.end() && former->second == value) return value;
        Transaction transaction;
        transaction.put(prefix_ + owner, value);
        if (commit(transaction, seen.turn)) return value;
    }
    throw_no_turn();
}

void Allotment::release(const std::string& owner) {
    for (int i = 0; i < max_turns; ++i) {
        const Seen seen = see();
        if (!seen.shares.contains(owner)) return;
        Transaction transaction;
        transaction.remove(prefix_ + owner);
        if (commit(transaction, seen.turn)) return;
    }
    throw_no_turn();
}

}  // namespace svc::etcd

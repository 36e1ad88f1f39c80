#include "libsvc/store/etcd/committer.h"

#include <algorithm>
#include <map>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::etcd {

namespace {

constexpr int max_lane_moves = 10;  // each needs an attempt of an earlier batch to have arrived late

// etcd refuses a key twice: the last change counts.
std::vector<const Batch::Change*> last_changes(const Batch& batch) {
    std::map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < batch.changes().size(); ++i) last[batch.changes()[i].key] = i;
    std::vector<const Batch::Change*> changes;
    for (std::size_t i = 0; i < batch.changes().size(); ++i)
        if (last[batch.changes()[i].key] == i) changes.push_back(&batch.changes()[i]);
    return changes;
}

[[noreturn]] void throw_too_large(const Batch& batch, const std::string& reason) {
    const std::string& key =
        batch.changes().empty() ? batch.expectations().front().key : batch.changes().front().key;
    throw Error(ErrorCode::unsupported, "a change of " + std::to_string(batch.changes().size()) +
                                            " records, " + quoted(key) +
                                            " among them, is too large for etcd: " + reason);
}

Reply ask_or_leave_open(Cluster& cluster, const Json& request) {
    try {
        return cluster.ask("/v3/kv/txn", request);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        throw Error(e.code(), std::string(e.what()) + "; it is not known whether the change was stored");
    }
}

}  // namespace

// Holds a lane for one batch.
class Committer::LaneUse {
  public:
    explicit LaneUse(Committer& committer) : committer_(committer), lane_(committer.take_lane()) {}
    ~LaneUse() { committer_.give_back(lane_); }
    LaneUse(const LaneUse&) = delete;
    LaneUse& operator=(const LaneUse&) = delete;
    Lane& lane() { return lane_; }

  private:
    Committer& committer_;
    Lane& lane_;
};

Committer::Committer(Cluster& cluster, const Keys& keys, const std::string& manager, Ownership* ownership)
    : cluster_(cluster), keys_(keys), ownership_(ownership) {
    for (std::size_t i = 0; i < lane_count; ++i)
        lanes_[i].key = keys_.last() + manager + "/" + std::to_string(i);
}

Committer::Lane& Committer::take_lane() {
    std::unique_lock lock(mutex_);
    Lane* lane = nullptr;
    lane_free_.wait(lock, [&] {
        lane = std::ranges::find_if(lanes_, &Lane::free);
        return lane != lanes_.end();
    });
    lane->free = false;
    return *lane;
}

void Committer::give_back(Lane& lane) {
    std::lock_guard lock(mutex_);
    lane.free = true;
    lane_free_.notify_one();
}

Outcome Committer::commit(const Batch& batch) {
    if (batch.changes().empty()) return check(batch);
    LaneUse use(*this);
    return send(batch, use.lane());
}

// What both kinds have in common. The reads of a refusal begin with the newest batch and the owner.
Transaction Committer::begin(const Batch& batch) const {
    Transaction transaction;
    if (ownership_ != nullptr) transaction.expect(keys_.owner(), ownership_->fence());
    for (const auto& expectation : batch.expectations())
        transaction.expect(keys_.record(expectation.key), expectation.revision);
    transaction.if_refused(keys_.newest_batch());
    transaction.if_refused(range_request({keys_.owner(), ""}, {.keys_only = true}));
    return transaction;
}

// Throws when another manager is the owner.
TransactionReply Committer::ask(const Batch& batch, const Transaction& transaction) {
    const Reply reply = ask_or_leave_open(cluster_, transaction.request());
    if (reply.refusal == Refusal::too_large) throw_too_large(batch, reply.reason);
    if (reply.refusal != Refusal::none) throw_refusal(reply);
    TransactionReply read = read_transaction(reply.body);
    if (read.succeeded) return read;
    if (read.read.size() < 2) throw Error(ErrorCode::unavailable, "etcd answers with less than was asked");
    if (ownership_ == nullptr || revision_of_first(read.read[1]) == ownership_->fence()) return read;
    ownership_->lose();
    throw Error(ErrorCode::unavailable, "another svcd has taken over the records in etcd");
}

Outcome Committer::check(const Batch& batch) {
    Transaction transaction = begin(batch);
    transaction.read(keys_.newest_batch());
    const TransactionReply reply = ask(batch, transaction);
    return {reply.succeeded, reply.read.empty() ? 0 : revision_of_first(reply.read[0])};
}

Outcome Committer::send(const Batch& batch, Lane& lane) {
    const std::string name = to_hex(random_bytes(16));
    for (int moves = 0; moves < max_lane_moves; ++moves) {
        Transaction transaction = begin(batch);
        transaction.expect(lane.key, lane.last);
        transaction.put(lane.key, name);
        for (const Batch::Change* change : last_changes(batch))
            if (change->value)
                transaction.put(keys_.record(change->key), *change->value);
            else
                transaction.remove(keys_.record(change->key));
        transaction.if_refused(range_request({lane.key, ""}));
        const TransactionReply reply = ask(batch, transaction);
        if (reply.succeeded) return {true, lane.last = reply.revision};
        const Page& found = reply.read.at(2);
        const Revision last = revision_of_first(found);
        if (last == lane.last) return {false, revision_of_first(reply.read[0])};
        lane.last = last;
        if (last != 0 && found.entries[0].value == name) return {true, last};
    }
    throw Error(ErrorCode::unavailable, "another process uses the id of this manager in etcd");
}

}  // namespace svc::etcd

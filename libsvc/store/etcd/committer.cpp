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

// The lane is where a lost attempt expects it, as far as the answer tells: that attempt may be done yet.
bool may_be_late(const Reply& reply, Revision expected) {
    if (reply.refusal != Refusal::none) return true;
    const TransactionReply read = read_transaction(reply.body);
    return !read.succeeded && (read.read.size() < 3 || revision_of_first(read.read[2]) == expected);
}

}  // namespace

void throw_open(const std::string& reason) {
    throw Error(ErrorCode::unavailable, reason + "; it is not known whether the change was stored");
}

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

Committer::Committer(Cluster& cluster, const Keys& keys, const std::string& manager, Leadership* leadership,
                     Counters& counters)
    : cluster_(cluster), keys_(keys), leadership_(leadership), counters_(counters) {
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
    if (leadership_ != nullptr) leadership_->fence();
    if (batch.changes().empty()) return counted(check(batch));
    LaneUse use(*this);
    return counted(send(batch, use.lane()));
}

Outcome Committer::counted(Outcome outcome) {
    ++(outcome.committed ? counters_.commits : counters_.conflicts);
    return outcome;
}

// What both kinds have in common. The reads of a refusal begin with the newest batch and the owner.
Transaction Committer::begin(const Batch& batch) const {
    Transaction transaction;
    if (leadership_ != nullptr) transaction.expect(keys_.owner(), leadership_->fence());
    for (const auto& expectation : batch.expectations())
        transaction.expect(keys_.record(expectation.key), expectation.revision);
    transaction.if_refused(keys_.newest_batch());
    transaction.if_refused(range_request({keys_.owner(), ""}, {.keys_only = true}));
    return transaction;
}

Reply Committer::ask(const Json& request) {
    ++counters_.transactions;
    try {
        return cluster_.ask(transaction_path, request);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        throw_open(e.what());
    }
}

TransactionReply Committer::checked(const Batch& batch, const Reply& reply, std::size_t reads) {
    if (reply.refusal == Refusal::too_large) throw_too_large(batch, reply.reason);
    if (reply.refusal != Refusal::none) throw_refusal(reply);
    TransactionReply read = read_transaction(reply.body);
    if (!read.succeeded && read.read.size() < reads)
        throw Error(ErrorCode::unavailable, "etcd answers with less than was asked");
    return read;
}

// Throws when another manager is the owner, and when this one cannot tell.
void Committer::refuse_other_owner(const TransactionReply& refused) {
    if (leadership_ == nullptr || revision_of_first(refused.read[1]) == leadership_->fence()) return;
    leadership_->lose();
    throw Error(ErrorCode::unavailable, "another svcd has taken over the records in etcd");
}

// True: an attempt whose answer was lost was committed. False: it was not, and never will be, since the lane
// is not where it expects it to be.
bool Committer::settle(Lane& lane, const std::string& name) {
    Transaction transaction;
    transaction.expect(lane.key, lane.last);
    transaction.put(lane.key, to_hex(random_bytes(16)));
    transaction.if_refused(range_request({lane.key, ""}));
    const Reply reply = ask(transaction.request());
    if (reply.refusal != Refusal::none) throw_open("etcd: " + reply.reason);
    const TransactionReply read = read_transaction(reply.body);
    lane.last = read.succeeded ? read.revision : revision_of_first(read.read.at(0));
    return !read.succeeded && lane.last != 0 && read.read[0].entries[0].value == name;
}

Outcome Committer::check(const Batch& batch) {
    Transaction transaction = begin(batch);
    transaction.read(keys_.newest_batch());
    const TransactionReply reply = checked(batch, ask(transaction.request()), 2);
    if (!reply.succeeded) refuse_other_owner(reply);
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
        const Revision expected = lane.last;
        const Reply answer = ask(transaction.request());
        if (answer.after_loss && may_be_late(answer, expected) && settle(lane, name))
            return {true, lane.last};
        const TransactionReply reply = checked(batch, answer, 3);
        if (reply.succeeded) return {true, lane.last = reply.revision};
        const Page& found = reply.read[2];
        const Revision last = revision_of_first(found);
        lane.last = std::max(lane.last, last);
        // An earlier attempt was committed, whoever leads since.
        if (last != 0 && found.entries[0].value == name) return {true, last};
        refuse_other_owner(reply);
        if (last == expected) return {false, revision_of_first(reply.read[0])};
    }
    throw Error(ErrorCode::unavailable, "another process uses the id of this manager in etcd");
}

}  // namespace svc::etcd

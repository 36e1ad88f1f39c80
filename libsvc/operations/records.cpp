#include "libsvc/operations/records.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr int max_conflicts = 100;  // each needs another writer to have won; beyond that something is broken
constexpr int max_refusals = 5;
constexpr Duration first_pause = std::chrono::milliseconds(50);
// However many have finished: who follows an event must still find the record.
constexpr Duration always_kept = std::chrono::seconds(5);
constexpr std::size_t removals_per_commit = 100;  // etcd takes 128 changes at once

}  // namespace

OperationRecords::OperationRecords(Store& store, Clock& clock, std::stop_token give_up)
    : store_(store), clock_(clock), give_up_(std::move(give_up)), ages_(Ages(clock)), records_(store) {}

std::vector<OperationPtr> OperationRecords::unfinished() const {
    std::vector<OperationPtr> unfinished;
    for (OperationPtr& record : records_.list())
        if (!is_final(record->status)) unfinished.push_back(std::move(record));
    std::sort(unfinished.begin(), unfinished.end(), [](const OperationPtr& a, const OperationPtr& b) {
        return std::tie(a->created_at, a->id) < std::tie(b->created_at, b->id);
    });
    return unfinished;
}

void OperationRecords::create(const Operation& record, Batch with) {
    Batch together;
    records_.stage_create(together, record);
    together.append(std::move(with));
    try {
        store_.commit(together);
    } catch (const Error& e) {
        // Committed, and only the answer was lost.
        if (e.code() == ErrorCode::unavailable && records_.find(record.id.str())) return;
        throw;
    }
}

void OperationRecords::save(const Operation& record) {
    records_.update(record.id.str(), [&record](Operation& stored) { stored = record; });
}

void OperationRecords::finish(const Operation& record, const OperationResult& result) {
    int conflicts = 0;
    int refusals = 0;
    Duration pause = first_pause;
    for (;;) {
        try {
            Batch batch = result.last;
            if (result.stage) result.stage(batch);
            records_.stage_update(batch, record.id.str(), [&record](Operation& stored) { stored = record; });
            store_.commit(batch);
            return;
        } catch (const Error& e) {
            const bool moved = e.code() == ErrorCode::conflict && result.stage && ++conflicts < max_conflicts;
            const bool away = e.code() == ErrorCode::unavailable && ++refusals < max_refusals;
            const bool open = e.code() == ErrorCode::unavailable || e.code() == ErrorCode::conflict;
            if (open && has_ended(record)) return;  // only the answer was lost, or it was stored late
            if (!moved && !away) throw;
            if (away) clock_.wait(give_up_, std::exchange(pause, pause * 4));
        }
    }
}

bool OperationRecords::has_ended(const Operation& record) const {
    const OperationPtr stored = records_.find(record.id.str());
    return stored && is_final(stored->status);
}

std::optional<ErrorCode> OperationRecords::try_finish(const Operation& record,
                                                      const OperationResult& result) {
    try {
        finish(record, result);
        return std::nullopt;
    } catch (const Error& e) {
        log::error("end of an operation could not be stored", {{"kind", record.kind}, {"error", e.what()}});
        return e.code();
    }
}

void OperationRecords::remove_finished(std::size_t keep, Duration keep_for) {
    const auto finished = finished_by_age();
    std::vector<std::string> leaving;
    for (std::size_t i = 0; i < finished.size(); ++i) {
        const auto& [age, record] = finished[i];
        if (age >= keep_for || (i >= keep && age >= always_kept)) leaving.push_back(record->id.str());
    }
    remove(leaving);
}

// The youngest first.
std::vector<std::pair<Duration, OperationPtr>> OperationRecords::finished_by_age() {
    std::vector<std::pair<Duration, OperationPtr>> finished;
    ages_.with([&](Ages& ages) {
        for (OperationPtr& record : records_.list())
            if (is_final(record->status))
                finished.emplace_back(ages.since(record->id.str(), record->updated_at), std::move(record));
        ages.forget_unasked();
    });
    std::ranges::sort(finished, [](const auto& a, const auto& b) {
        return std::tie(a.first, b.second->updated_at) < std::tie(b.first, a.second->updated_at);
    });
    return finished;
}

void OperationRecords::remove(const std::vector<std::string>& ids) {
    for (std::size_t begin = 0; begin < ids.size(); begin += removals_per_commit) {
        Batch batch;
        for (std::size_t i = begin; i < std::min(ids.size(), begin + removals_per_commit); ++i)
            records_.stage_remove(batch, ids[i]);
        if (!batch.empty()) store_.commit(batch);
    }
}

}  // namespace svc

#pragma once
// An engine with everything around it, and what tests watch.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/failing_store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"

namespace svc::test {

// Work waits in it until the test opens it, and the test can wait until work has come.
class Gate {
  public:
    void pass() {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
    }
    // As pass(), but gives up (false) when `stop` is requested.
    bool pass(std::stop_token stop) {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        return changed_.wait(lock, stop, [this] { return open_; });
    }
    void open() {
        std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void await(int arrived = 1) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return arrived_ >= arrived; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    int arrived_ = 0;
    bool open_ = false;
};

[[noreturn]] inline void throw_cancelled() {
    throw Error(ErrorCode::cancelled, "work was told to stop");
}

struct EngineFixture {
    Gate gate;  // outlives the engine, whose work may still be in it
    ManualClock clock;
    SequenceIds ids;
    EventBus bus{clock};
    SqliteStore sqlite{":memory:"};
    FailingStore store{sqlite};
    Guarded<std::vector<Json>> told;  // the metadata of operation events
    std::unique_ptr<EventBus::Handle> subscription =
        bus.subscribe({EventType::operation}, [this](const Event& event) {
            told.with([&](auto& events) { events.push_back(Json::parse(*event.text).at("metadata")); });
            return true;
        });
    std::unique_ptr<Engine> engine = make_engine();

    std::unique_ptr<Engine> make_engine(EngineOptions options = {.workers = 3}) {
        return std::make_unique<Engine>(store, bus, clock, ids, options);
    }
    void handle(std::function<OperationResult(OperationContext&)> run,
                std::function<OperationResult(const Operation&, const Error&)> undo = nullptr,
                bool resumable = false) {
        engine->handle("test", {std::move(run), std::move(undo), resumable});
    }
    std::string start(OperationSpec spec = {}, Batch batch = {}) {
        if (spec.kind.empty()) spec.kind = "test";
        return engine->start(std::move(spec), std::move(batch))->id.str();
    }
    std::shared_ptr<const Operation> wait(const std::string& id) { return engine->wait(id, std::nullopt); }
    std::vector<std::int64_t> told_of(const std::string& id) const {
        return told.with([&](const auto& events) {
            std::vector<std::int64_t> codes;
            for (const Json& event : events)
                if (event.at("id").as_string() == id) codes.push_back(event.at("status_code").as_int());
            return codes;
        });
    }
    Operation stored(const std::string& id) {
        return operation_from_store(Json::parse(sqlite.get("operations/" + id)->value));
    }
    // Stores an operation as a killed daemon leaves it.
    std::string leave_behind(OperationStatus status, OperationSpec spec) {
        Operation record;
        record.id = OperationId(ids.uuid());
        record.kind = spec.kind;
        record.status = status;
        record.claims = spec.claims;
        record.cancels_holders = spec.cancel_holders;
        record.arguments = spec.arguments;
        record.may_cancel = spec.cancellable;
        record.created_at = record.updated_at = clock.now();
        clock.advance(std::chrono::seconds(1));
        sqlite.commit(Batch().put("operations/" + record.id.str(), operation_to_store(record).dump()));
        return record.id.str();
    }
};

using Codes = std::vector<std::int64_t>;

}  // namespace svc::test

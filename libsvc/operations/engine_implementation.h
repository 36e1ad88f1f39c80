#pragma once
// The inside of the engine. engine.cpp: starting, cancelling, looking; ending.cpp: running and ending;
// recovery.cpp: what an earlier process left, and stopping.
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/operations/claims.h"
#include "libsvc/operations/engine.h"
#include "libsvc/operations/job.h"
#include "libsvc/store/collection.h"

namespace svc {

using JobPtr = std::shared_ptr<Job>;

class Engine::Implementation {
  public:
    Implementation(Store& store, EventBus& events, Clock& clock, IdSource& ids, EngineOptions options);
    ~Implementation();

    void handle(std::string kind, OperationHandler handler);
    void recover();
    OperationPtr start(OperationSpec spec, Batch batch);
    void cancel(std::string_view id);
    OperationPtr get(std::string_view id) const;
    std::vector<OperationPtr> list() const;
    void when_final(std::string_view id, std::optional<Duration> timeout,
                    std::function<void(OperationPtr)> done);
    bool claimed(std::string_view claim) const { return claims_.held(claim); }
    void sweep();
    void stop(Duration grace);
    void join();

    void progress(Job& job, const Json& metadata);

  private:
    // How an operation has ended: its final record, and what is still to be done.
    struct Outcome {
        OperationPtr record;
        std::function<void()> after;
        bool stored = true;
    };

    // engine.cpp
    JobPtr make_job(Operation record);
    Operation new_record(OperationSpec spec) const;
    void reserve_place();
    std::vector<std::string> accept(Job& job, Claims::IfHeld if_held, Batch batch);
    void commit_start(const Operation& record, Batch batch);
    bool add_job(const JobPtr& job);  // false: there is one of this id
    void take_back(Job& job);
    void cancel_ahead(const std::vector<std::string>& ids);
    void cancel(Job& job);
    JobPtr find_job(std::string_view id) const;
    std::vector<JobPtr> jobs() const;
    void forget_job(const std::string& id);
    void publish(const Operation& record);
    void remove_finished(const std::vector<std::string>& ids);
    void store_unstored();

    // ending.cpp
    void dispatch(const JobPtr& job);
    void dispatch_all(const std::vector<std::string>& ids);
    void run(const JobPtr& job);
    bool begin(const JobPtr& job);
    void finish(const JobPtr& job, const Ending& ending);
    Outcome succeed(const Job& job, const Ending& ending);
    Outcome fail(const Job& job, const Error& error);
    bool was_cancelled(const Job& job, const Error& error) const;
    OperationResult undo(const Job& job, const Error& error) const;
    void commit_final(const Operation& record, const OperationResult& result);
    bool has_ended(const Operation& record) const;
    bool try_commit_final(const Operation& record, const OperationResult& result);
    void conclude(Job& job, const Outcome& outcome);
    void tell_waiters(Job& job);

    // recovery.cpp
    JobPtr recover_one(const Operation& record);
    void leave(Job& job);
    void settle(Job& job);
    void stop_job(Job& job, bool in_time);
    void await_idle(Duration grace);

    Store& store_;
    EventBus& events_;
    Clock& clock_;
    IdSource& ids_;
    const EngineOptions options_;
    std::map<std::string, OperationHandler, std::less<>> handlers_;  // complete before the first operation
    Collection<Operation> records_;
    Claims claims_;
    mutable std::shared_mutex jobs_mutex_;
    std::map<std::string, JobPtr, std::less<>> jobs_;
    std::atomic<std::size_t> queued_{0};  // accepted, not begun
    std::atomic<bool> stopping_{false};
    std::stop_source stopping_source_;  // ends waits between attempts
    std::mutex idle_mutex_;
    std::condition_variable idle_;
    std::size_t awaited_ = 0;  // jobs that stop() waits for
    bool grace_over_ = false;
    Timer timer_;
    ThreadPool pool_;  // last: its threads use all of the above
};

}  // namespace svc

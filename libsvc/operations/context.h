#pragma once
// What the engine hands to the work of an operation.
#include <memory>

#include "libsvc/operations/engine_implementation.h"
#include "libsvc/operations/job.h"

namespace svc {

// Ends a detached job. When nobody holds it any more and it was never used, the operation fails.
class JobCompletion final : public OperationCompletion {
  public:
    explicit JobCompletion(std::shared_ptr<Job> job) : job_(std::move(job)) {}
    ~JobCompletion() override;
    JobCompletion(const JobCompletion&) = delete;
    JobCompletion& operator=(const JobCompletion&) = delete;
    void succeed(std::function<OperationResult()> last) override;
    void fail(const Error& error) override;

  private:
    std::shared_ptr<Job> job_;
};

class JobContext final : public OperationContext {
  public:
    JobContext(Engine::Implementation& engine, std::shared_ptr<Job> job);
    const Operation& operation() const override { return *record_; }
    std::stop_token stop() const override { return job_->stop_token(); }
    bool cancel_requested() const override { return job_->cancel_requested; }
    bool resumed() const override { return job_->resumed; }
    void progress(const Json& metadata) override;
    std::shared_ptr<OperationCompletion> detach(std::function<void()> on_stop) override;

  private:
    Engine::Implementation& engine_;
    std::shared_ptr<Job> job_;
    OperationPtr record_;  // as it was when the work began
};

}  // namespace svc

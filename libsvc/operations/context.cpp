#include "libsvc/operations/context.h"

namespace svc {

JobCompletion::~JobCompletion() {
    job_->complete([]() -> OperationResult {
        throw Error(ErrorCode::internal, "the work was given up without a result");
    });
}

void JobCompletion::succeed(std::function<OperationResult()> last) {
    job_->complete(std::move(last));
}

void JobCompletion::fail(const Error& error) {
    job_->complete([error]() -> OperationResult { throw Error(error); });
}

JobContext::JobContext(Engine::Implementation& engine, std::shared_ptr<Job> job)
    : engine_(engine), job_(std::move(job)), record_(job_->record()) {}

void JobContext::progress(const Json& metadata) {
    engine_.progress(*job_, metadata);
}

std::shared_ptr<OperationCompletion> JobContext::detach(std::function<void()> on_stop) {
    job_->detach(std::move(on_stop));
    return std::make_shared<JobCompletion>(job_);
}

}  // namespace svc

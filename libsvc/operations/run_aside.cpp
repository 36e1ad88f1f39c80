#include "libsvc/operations/run_aside.h"

#include <memory>
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

OperationResult run_aside(OperationContext& context, ThreadPool& pool, const std::string& refused,
                          std::function<OperationResult(const std::stop_token& stop)> work) {
    const auto stop = std::make_shared<std::stop_source>();
    const auto completion = context.detach([stop] { stop->request_stop(); });
    const bool posted = pool.post([stop, completion, work = std::move(work)] {
        try {
            if (stop->stop_requested()) throw Error(ErrorCode::cancelled, "Operation cancelled");
            const auto result = std::make_shared<OperationResult>(work(stop->get_token()));
            completion->succeed([result] { return std::move(*result); });
        } catch (const Error& e) {
            completion->fail(e);
        } catch (const std::exception& e) {
            completion->fail(Error(ErrorCode::internal, e.what()));
        }
    });
    if (!posted) completion->fail(Error(ErrorCode::unavailable, refused));
    return {};
}

}  // namespace svc

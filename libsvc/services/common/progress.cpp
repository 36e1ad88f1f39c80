#include "libsvc/services/common/progress.h"

#include <algorithm>

namespace svc {

Json progress_json(std::uint64_t bytes, std::uint64_t total) {
    const std::uint64_t percent = total > 0 ? std::min<std::uint64_t>(100, bytes * 100 / total) : 0;
    return Json::object({{"percent", percent}, {"processed", bytes}, {"total", total}});
}

LayerStore::Progress unpack_progress(OperationContext& context) {
    LayerStore::Progress progress;
    progress.stop = context.stop();
    progress.report = [&context](std::uint64_t bytes, std::uint64_t total) {
        context.progress(Json::object({{"progress", progress_json(bytes, total)}}));
    };
    return progress;
}

}  // namespace svc

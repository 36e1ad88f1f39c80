#include "libsvc/services/instances/end/release_after_commit.h"

#include <utility>

namespace svc {

OperationResult release_after_commit(OperationResult ended, const Instances& instances, NodeService& nodes,
                                     const InstancePtr& instance, bool keep_disk) {
    ended.after = [&instances, &nodes, instance, keep_disk, tell = std::move(ended.after)] {
        const auto now = instances.find(instance->id.str());
        const bool is_free = !now || now->address.empty();
        if (is_free && keep_disk) nodes.release_all_but_disk(*instance);
        if (is_free && !keep_disk) nodes.release_all(*instance);
        if (tell) tell();
    };
    return ended;
}

}  // namespace svc

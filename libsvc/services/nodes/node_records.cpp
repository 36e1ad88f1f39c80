#include "libsvc/services/nodes/node_records.h"

#include "libsvc/services/nodes/gpu_slots.h"

namespace svc {

NodeRecords::Ptr NodeRecords::as_seen(const Node& stored) const {
    return std::make_shared<const Node>(with_gpu_type(stored, config_.text("gpu.type")));
}

NodeRecords::Ptr NodeRecords::get(std::string_view name) const {
    return as_seen(*nodes_.get(name));
}

std::vector<NodeRecords::Ptr> NodeRecords::list() const {
    std::vector<Ptr> nodes = nodes_.list();
    const std::string gpu_type = config_.text("gpu.type");
    for (Ptr& node : nodes) node = std::make_shared<const Node>(with_gpu_type(*node, gpu_type));
    return nodes;
}

}  // namespace svc

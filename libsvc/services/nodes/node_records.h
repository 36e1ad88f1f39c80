#pragma once
// Reading nodes, as placement and clients see them: with the slots of the GPUs that gpu.type selects.
#include <memory>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"

namespace svc {

// Thread-safe; reads memory only.
class NodeRecords {
  public:
    using Ptr = std::shared_ptr<const Node>;

    NodeRecords(const Nodes& nodes, const ConfigService& config) : nodes_(nodes), config_(config) {}
    Ptr get(std::string_view name) const;  // throws not_found
    std::vector<Ptr> list() const;
    Ptr as_seen(const Node& stored) const;

  private:
    const Nodes& nodes_;
    const ConfigService& config_;
};

}  // namespace svc

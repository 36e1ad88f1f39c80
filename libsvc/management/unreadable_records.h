#pragma once
// Records of the store that cannot be read: which there are, and their removal when somebody asks for it.
// Until then they stay as they are (docs/store.md).
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/management/cluster_records.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

// Thread-safe. Registers "record.remove" with the engine.
class UnreadableRecords {
  public:
    UnreadableRecords(ClusterRecords& records, Engine& engine, InstanceService& instances);

    std::vector<UnreadableRecord> list() const;
    // `prefix`: of the keys of a noun, "images/".
    std::optional<UnreadableRecord> find(std::string_view prefix, std::string_view id_or_name) const;
    // Starts the removal of the record, and of the container of an instance. The packages and layers that it
    // referred to go with the next collection of garbage. Nothing: there is no such record.
    std::optional<Started> remove(std::string_view prefix, std::string_view id_or_name,
                                  const std::string& requestor);
    void tell() const;  // a line in the log for each, which clients see as an event

  private:
    struct Kind {
        std::string prefix;
        std::function<std::vector<UnreadableRecord>()> list;
        std::function<std::optional<UnreadableRecord>(std::string_view)> find;
        std::function<void(Batch&, std::string_view)> stage_remove;
    };
    template <class T>
    void add(const Collection<T>& records);
    const Kind* kind_of(std::string_view key) const;
    OperationResult run(const Operation& operation);

    Engine& engine_;
    InstanceService& instances_;
    std::vector<Kind> kinds_;
};

}  // namespace svc

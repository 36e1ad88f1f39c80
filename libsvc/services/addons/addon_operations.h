#pragma once
// What the operations of addons do in the background: announcing a version, deletion, undoing.
#include <functional>
#include <string>

#include "libsvc/operations/engine.h"
#include "libsvc/services/addons/addon_use.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"

namespace svc {

// One version of one addon, as stored in the arguments of an operation. Operations on the whole addon ignore
// the version.
struct AddonTarget {
    std::string addon;
    int version = 0;
    Json to_json() const;
    static AddonTarget of(const Operation& operation);
};

// Thread-safe. Registers "addon.add", "addon.update", "addon.delete", "addon.delete_version". All are resumed
// after a restart.
class AddonOperations {
  public:
    AddonOperations(Addons& addons, const AddonUse& use, Content& content, Engine& engine);
    AddonOperations(const AddonOperations&) = delete;
    AddonOperations& operator=(const AddonOperations&) = delete;

    // Called after a new version has become visible; any thread. Set before the engine starts.
    void on_new_version(std::function<void(const std::string& addon)> listener) {
        listener_ = std::move(listener);
    }

  private:
    void register_kinds();
    OperationResult announce(const AddonTarget& target);
    OperationResult undo_create(const AddonTarget& target);
    OperationResult undo_update(const AddonTarget& target);
    OperationResult erase(const AddonTarget& target);
    OperationResult erase_version(const AddonTarget& target);
    OperationResult restore(const AddonTarget& target);
    OperationResult restore_version(const AddonTarget& target);

    Addons& addons_;
    const AddonUse& use_;
    Content& content_;
    Engine& engine_;
    std::function<void(const std::string& addon)> listener_;  // may be empty
};

}  // namespace svc

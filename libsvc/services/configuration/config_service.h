#pragma once
// Cluster configuration: one key at a time, typed, effective at once (specification: Config).
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/config.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe. Registers "config.tell", and "config.set" of earlier versions. Services keep a reference to it
// and ask for a value when they need it, so that most keys need no listener.
class ConfigService {
  public:
    // `addons`: those named by application.addons must exist.
    ConfigService(ConfigRecords& records, const Addons& addons, Engine& engine);
    ConfigService(const ConfigService&) = delete;
    ConfigService& operator=(const ConfigService&) = delete;

    ConfigValues values() const;  // a copy; cheap
    bool boolean(std::string_view key) const { return values().boolean(key); }
    std::string text(std::string_view key) const { return values().text(key); }

    // PATCH: unknown key 404, bad value 400, unknown addon 404, all before the value is committed together
    // with the operation, which then calls the listeners of that key. "" resets. core.trust_password is
    // hashed before anything stores it.
    Started patch(const ConfigPatch& patch, std::string requestor, const Precondition& unchanged = {});
    // Called after a key has changed, on an engine thread; what it throws is logged. Register before the
    // engine starts.
    void on_change(std::string_view key, std::function<void()> listener);
    // Compares in constant time. False also when no password is set.
    bool check_trust_password(std::string_view password) const;
    std::string etag() const;

  private:
    void handle(const char* name, std::function<OperationResult(const Operation&)> work);
    OperationResult tell_change(const Operation& operation);
    OperationResult make_change(const Operation& operation);
    void stage(Batch& last, const ConfigRecord& record);
    void tell(const std::string& key);

    ConfigRecords& records_;
    const Addons& addons_;
    Engine& engine_;
    std::mutex changing_;
    std::map<std::string, std::vector<std::function<void()>>>
        listeners_;  // complete before the engine starts
};

}  // namespace svc

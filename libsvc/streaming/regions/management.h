#pragma once
// The seam to the API of a management service, as far as the gateway uses it. Implementations:
// management_client.cpp (over libsvc/client), and a fake in tests/support.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/json.h"

namespace svc {

// An application that sessions can be made of.
struct StreamApplication {
    std::string name;
    std::map<int, bool> versions;  // each launchable version, and whether it streams

    // Without a version: the newest, which a launch takes then. True for an absent version: the launch tells
    // that it is absent.
    bool streams(std::optional<int> version = {}) const {
        const auto found =
            version || versions.empty() ? versions.find(version.value_or(0)) : --versions.end();
        return found == versions.end() || found->second;
    }
};

struct StreamLaunch {
    std::string session;
    std::string app;
    std::optional<int> app_version;
    Json user_data;  // object; the instance finds it as its user data
};

// An instance that carries the tag `session=<id>`.
struct StreamInstance {
    std::string id;
    std::string session;
    std::string status;  // as the management service names it: "running", "error", "stopped", ...; "deleted":
                         // it is gone
    std::string error_message;
};

struct StreamLaunched {
    std::string instance;
    std::string operation;  // the operation that starts the instance
};

struct RegionLoad {
    int cpus = 0;  // number of CPUs of all nodes that take instances
};

// Thread-safe. Calls block and throw Error: `unavailable` when the service does not answer, else the error
// that it answered.
class Management {
  public:
    virtual ~Management() = default;
    virtual std::vector<StreamApplication> applications() = 0;  // the ready and published ones
    virtual RegionLoad load() = 0;
    // Returns as soon as the instance's id is known; the launch goes on. Platform is `webrtc`, the tag
    // session=<id> is set.
    virtual StreamLaunched launch(const StreamLaunch& launch) = 0;
    // The error of a launch's operation; "" when it succeeded, or is not known (any more). Waits for an
    // operation that is about to end, and throws busy when that takes long.
    virtual std::string launch_failure(const std::string& operation) = 0;
    virtual std::vector<StreamInstance> instances() = 0;  // the instances with a session's tag
    virtual std::vector<StreamInstance> instances_of(const std::string& session) = 0;
    virtual std::optional<StreamInstance> instance(const std::string& id) = 0;  // nothing: it is gone
    // Returns when the instance is gone, or throws: `unavailable` soon after `stop`, when it may go on.
    // Absent is fine.
    virtual void remove(const std::string& id, bool force, std::stop_token stop) = 0;
    // Clients use these instances now; at most 1000. Those that are not there are ignored.
    virtual void note_uses(const std::vector<std::string>& instances) = 0;
    // Calls `changed` with the id of each instance that may have changed, until `stop` or the connection
    // breaks (throws unavailable). Calls it with "" when events were missed: all instances may have changed.
    virtual void follow(std::stop_token stop, const std::function<void(const std::string& id)>& changed) = 0;
};

struct RegionConfig {
    std::string name;
    std::vector<std::string> urls;  // of its managers, which are one service; tried in turn
    std::string certificate, key, server_fingerprint;
    std::string metrics_server;  // for the instances' streaming metrics; "": none
    // An application streams that has one of these; none: any may.
    std::vector<std::string> streamer_addons{"svc-streamer"};
};
std::unique_ptr<Management> make_management_client(const RegionConfig& config);

}  // namespace svc

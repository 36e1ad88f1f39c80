#pragma once
// Rules of instances: launch, reports, end, deletion, logs (specification: Containers; facts 7).
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/trust/agent_tokens.h"

namespace svc {

struct InstanceServiceOptions {
    Duration boot_timeout = std::chrono::minutes(15);  // launch to `running`
    Duration stop_grace = std::chrono::seconds(30);
    Duration linger = std::chrono::seconds(60);  // a self-stopped instance is removed after this
    std::filesystem::path log_dir;               // <state>/logs: stored logs of failed instances, by id
    std::uint64_t max_log_bytes = std::uint64_t{16} << 20;  // tail kept
};

struct InstanceServiceParts {
    Instances& instances;
    const Images& images;  // read only, like the next two: what a launch is made from
    const Applications& applications;
    const Addons& addons;
    ConfigService& config;
    Content& content;
    NodeService& nodes;
    Runtime& runtime;
    Engine& engine;
    EventBus& events;
    AgentTokens& tokens;
    Clock& clock;
    IdSource& ids;
    AgentSession session_template;  // service_socket, service_urls, service_fingerprint
    InstanceServiceOptions options;
};

// Whether URLs of an answer speak of containers or of instances: the word of the request's path.
enum class PathWord { containers, instances };
std::string_view to_text(PathWord word);

// What an application's bootstrap asks for: a temporary container in which a version is made (facts 6.1).
struct BaseLaunch : GuestDescription {  // all packages with `fetch`
    InstanceId id;  // chosen and stored by the caller before, so that asking again finds the same container
    std::string requestor;
};

// Thread-safe. Registers "instance.launch", "instance.start", "instance.stop", "instance.protect",
// "instance.delete", "instance.fail", "instance.recheck" with the engine, itself as the runtime's listener;
// adopts at construction what the records hold of nodes and layers. Stop the engine before destroying this.
class InstanceService {
  public:
    explicit InstanceService(InstanceServiceParts parts);
    ~InstanceService();

    // `no_wait`: the operation ends when the instance is prepared and its start queued; else when it is
    // running.
    Started launch(const InstanceCreate& request, bool no_wait, PathWord word, const std::string& requestor);
    Started remove(std::string_view id, bool force, PathWord word, const std::string& requestor);
    Started set_desired_status(std::string_view id, std::string_view status, bool no_wait, PathWord word,
                               const std::string& requestor);
    // Protected from deletion, whoever asks for it, or no longer so. There is nothing to wait for.
    Started protect(std::string_view id, bool wanted, PathWord word, const std::string& requestor);
    // Creates the container and starts its launch, unless that was done before. `running` means that the
    // guest part of the bootstrap has succeeded. Base containers are never expired, and refused to
    // set_desired_status().
    void launch_base(const BaseLaunch& launch);
    // Stops the guest, runs what comes after it (hooks, clean-up), and calls `done` when the container is
    // `stopped`, or with the reason when it has become `error` (its record and logs stay, its disk goes). Any
    // thread; repeatable in every state: waits for a launch that still goes on, tells at once what is over.
    // Costs no thread.
    void finish_base(const InstanceId& id, std::function<void(const std::optional<Error>& failure)> done);
    // Removes it, by force, and calls `done` when it is gone. Absent is fine.
    void remove_base(const InstanceId& id, std::function<void()> done);

    // The artifacts that the instance of a token may fetch: those of its packages.
    std::vector<PackageRef> artifacts(std::string_view instance_id) const;
    // Called after an instance is gone, stopped or failed, with its application and version; any thread. Set
    // once.
    void on_application_released(std::function<void(const std::string& app_id, int version)> listener);

    // Before anything else of a report is looked at. Throws busy when the instance has reported too often of
    // late: twenty at once, and one more every five seconds.
    void admit_report(std::string_view id);
    // The agent's word (facts 4.3, 1). `token_instance`: whom its token was issued for.
    void report(std::string_view id, std::string_view token_instance, const InstanceReport& report);

    std::shared_ptr<const Instance> get(std::string_view id_or_name) const;
    std::shared_ptr<const Instance> find(std::string_view id_or_name) const;  // null when absent
    std::vector<std::shared_ptr<const Instance>> list() const;
    Instances::Window window(std::size_t offset, std::size_t limit) const;  // part of the list
    std::vector<std::string> logs(std::string_view id) const;               // stored ones
    std::filesystem::path log(std::string_view id,
                              std::string_view name) const;  // throws not_found "log not found"

    // Compares records with the runtime, repairs both ways; at start-up after the engine's recovery, and
    // periodically.
    void reconcile();
    void expire();  // removes self-stopped instances after `linger`; a periodic job

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc

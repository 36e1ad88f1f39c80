#pragma once
// Rules of instances: launch, reports, end, deletion, logs (specification: Containers; facts 7).
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/agent_tokens.h"
#include "libsvc/services/image_service.h"
#include "libsvc/services/node_service.h"
#include "libsvc/store/collection.h"

namespace svc {

template <>
struct RecordTraits<Instance> {
    static constexpr std::string_view noun = "container";
    static constexpr std::string_view prefix = "instances/";
    static std::string id(const Instance& i) { return i.id.str(); }
    static std::string name(const Instance& i) { return i.name; }
    static Json to_store(const Instance& i) { return instance_to_store(i); }
    static Instance from_store(const Json& j) { return instance_from_store(j); }
};
using Instances = Collection<Instance>;

struct InstanceServiceOptions {
    Duration boot_timeout = std::chrono::minutes(15);  // launch to `running`
    Duration stop_grace = std::chrono::seconds(30);
    Duration linger = std::chrono::seconds(60);  // a self-stopped instance is removed after this
    std::filesystem::path log_dir;               // <state>/logs: stored logs of failed instances, by id
    std::uint64_t max_log_bytes = std::uint64_t{16} << 20;  // tail kept
    std::string default_platform = "null";
};

struct InstanceServiceParts {
    Store& store;
    Instances& instances;
    ImageService& images;
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

// Thread-safe. Registers "instance.launch", "instance.start", "instance.stop", "instance.delete",
// "instance.fail" with the engine and itself as the runtime's listener, and adopts at construction what the
// records hold of nodes and layers. Stop the engine before this is destroyed.
class InstanceService {
  public:
    explicit InstanceService(InstanceServiceParts parts);
    ~InstanceService();

    // `no_wait`: the operation ends when the instance is prepared and its start queued; else when it is
    // running.
    Started launch(const InstanceCreate& request, bool no_wait, PathWord word, std::string requestor);
    Started remove(std::string_view id, bool force, PathWord word, std::string requestor);
    Started set_desired_status(std::string_view id, std::string_view status, bool no_wait, PathWord word,
                               std::string requestor);
    // The agent's word (facts 4.3, 1). `token_instance`: whom its token was issued for.
    void report(std::string_view id, std::string_view token_instance, const InstanceReport& report);

    std::shared_ptr<const Instance> get(std::string_view id_or_name) const;
    std::vector<std::shared_ptr<const Instance>> list() const;
    std::vector<std::string> logs(std::string_view id) const;  // stored ones
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

#pragma once
// What the handlers of routes (and the periodic jobs) use: references to the services, as one value.
#include <functional>
#include <string>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/management/management_service.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/common/bulk_deletion.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/exec/exec_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/images/image_sync.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/registry/registry_service.h"
#include "libsvc/services/trust/agent_tokens.h"
#include "libsvc/services/trust/certificate_service.h"
#include "server/http/event_stream.h"
#include "server/http/instance_network.h"
#include "server/login/authenticate.h"

namespace svc::server {

class HypervisorMetrics;
class MetricsHistory;

// The addresses and the certificate of this server, for invitations.
struct ServerIdentity {
    std::string fingerprint;             // "" without TLS
    std::vector<std::string> addresses;  // https://...
    std::vector<std::string> pages;      // of the console: https://.../ui/
};

struct RouteLimits {
    std::uint64_t max_body = 0;  // bytes of a body that is read into memory
    EventQueueLimits events;     // of each client of GET /1.0/events
};

// Copies refer to the same objects. The daemon owns them, and they outlive every route.
struct Services {
    RouteLimits limits;
    const Authenticator& authenticator;
    const HypervisorMetrics& hypervisor;
    const MetricsHistory& history;
    EventBus& events;
    EventBus& audit;  // its events have numbers of their own
    Engine& engine;
    BlobStore& blobs;
    ConfigService& config;
    CertificateService& certificates;
    AddonService& addons;
    ImageService& images;
    ImageSync& image_sync;
    ApplicationService& applications;
    RegistryService& registry;
    NodeService& nodes;
    InstanceService& instances;
    ExecService& exec;
    AgentTokens& tokens;
    BulkDeletion& bulk;
    ManagementService& management;             // every service, also one without a field above
    std::function<ServerIdentity()> identity;  // known once the daemon listens
    const InstanceNetwork& instance_network;
};

}  // namespace svc::server

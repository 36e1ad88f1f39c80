#pragma once
// Who tells whom: what changes in one service and matters to another.
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/common/bulk_deletion.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/images/image_sync.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/registry/registry_service.h"
#include "server/follower.h"

namespace svc::server {

// What the service follows elsewhere. They start when the engine has recovered and end before the services.
struct Followers {
    Followers(ConfigService& config, ImageSync& images, RegistryService& registry);
    void start();
    bool stop(Duration limit);  // false: one still runs

    Follower images, registry;
};

struct WiredServices {
    ConfigService& config;
    AddonService& addons;
    ImageService& images;
    ApplicationService& applications;
    RegistryService& registry;
    NodeService& nodes;
    InstanceService& instances;
    Engine& engine;
    Followers& followers;
};

// What can be deleted in bulk.
std::vector<BulkKind> bulk_kinds(ApplicationService& applications, InstanceService& instances);

// Registers every listener; before the engine starts.
void wire(const WiredServices& services);

}  // namespace svc::server

#pragma once
// Which service calls which when something changes that concerns both.
#include "libsvc/management/follower.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/registry/registry_service.h"

namespace svc {

struct ConnectedServices {
    ConfigService& config;
    AddonService& addons;
    ImageService& images;
    ApplicationService& applications;
    RegistryService& registry;
    InstanceService& instances;
};

// Both register listeners that hold these references: call them before the engine runs, and stop the engine
// before the services end.
//
// A new version of an image or an addon, a change of application.* in the configuration and an instance that
// releases its application are told to the applications; a published version is told to the registry. The
// forced removal of a node needs no line here: InstanceService registers it with the NodeService by itself.
void connect_services(const ConnectedServices& services);
// A change of images.* or registry.* in the configuration makes the follower of that server run now, or with
// the new interval.
void connect_followers(ConfigService& config, Follower& images, Follower& registry);

}  // namespace svc

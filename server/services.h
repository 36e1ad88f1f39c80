#pragma once
// What routes and jobs may use, as one value of references.
#include "libsvc/blobs/blob_store.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/agent_tokens.h"
#include "libsvc/services/exec_service.h"
#include "libsvc/services/image_service.h"
#include "libsvc/services/instance_service.h"
#include "libsvc/services/node_service.h"
#include "server/authenticate.h"
#include "server/options.h"

namespace svc::server {

// Copies refer to the same objects, which the daemon owns and which outlive every route.
struct Services {
    const Options& options;
    const Authenticator& authenticator;
    EventBus& events;
    Engine& engine;
    BlobStore& blobs;
    ImageService& images;
    NodeService& nodes;
    InstanceService& instances;
    ExecService& exec;
    AgentTokens& tokens;
};

}  // namespace svc::server

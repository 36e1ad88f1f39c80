#pragma once
// What each service is told of the daemon's options.
#include "libsvc/operations/engine.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

EngineOptions engine_options(const Options& options);
std::size_t bulk_deletions_at_once(const Options& options);  // leaves workers to others
NodeServiceOptions node_options(const Options& options);
InstanceServiceOptions instance_options(const Options& options, const StateDirectory& state);
AgentSession session_template(const Options& options);  // how instances reach the service

}  // namespace svc::server

#pragma once
// The values of the seams Runtime and LayerStore as JSON, for calls between managers. Pure functions; reading
// throws invalid_argument.
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

Json to_json(const ContainerSpec& spec);  // with the content of the placed files
ContainerSpec spec_from_json(const Json& json);

Json to_json(const ContainerInfo& info);
ContainerInfo info_from_json(const Json& json);

Json to_json(const ContainerUsage& usage);
ContainerUsage usage_from_json(const Json& json);

Json to_json(const Capacity& capacity);
Capacity capacity_from_json(const Json& json);

Json to_json(const RuntimeNode& node);
RuntimeNode runtime_node_from_json(const Json& json);

Json to_json(const ExecSpec& spec);
ExecSpec exec_from_json(const Json& json);

Json to_json(const RuntimeEvent& event);
RuntimeEvent event_from_json(const Json& json);

Json to_json(const std::vector<std::string>& words);
// {"code": "not_found", "error": "..."}, and back: the same code and text.
Json to_json(const Error& error);
Error error_from_json(const Json& json);

}  // namespace svc::node

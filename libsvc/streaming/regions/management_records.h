#pragma once
// The JSON of a management service's records and events that the gateway reads, and the payload of a launch.
// Pure.
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/streaming/regions/management.h"

namespace svc {

std::string tag_of_session(const std::string& session);  // of its instance
Json launch_payload(const StreamLaunch& launch, const std::string& metrics_server);
// With which of their versions have one of the addons that bring a streamer; if there are none, all stream.
std::vector<StreamApplication> launchable_applications(const JsonArray& applications,
                                                       const std::vector<std::string>& streamer_addons);
RegionLoad region_load(const JsonArray& nodes);
StreamInstance stream_instance(const Json& record);    // `session` is "" when no tag names one
std::string failure_of_operation(const Json& record);  // "" unless it failed; one that was cancelled did not
// Ids of the instances that an event is about; "" stands for all of them.
std::vector<std::string> instances_in_event(const Json& event);

}  // namespace svc

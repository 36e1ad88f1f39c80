#pragma once
// The JSON of a management service's records and events that the gateway reads, and the payload of a launch.
// Pure.
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/streaming/regions/management.h"

namespace svc {

std::string tag_of_session(const std::string& session);  // the tag of the session's instance
Json launch_payload(const StreamLaunch& launch, const std::string& metrics_server);
// The applications of the list, each with its launchable versions. A version streams when it has one of
// `streamer_addons`, or its application the tag `streams`; when that list is empty, every version does.
std::vector<StreamApplication> launchable_applications(const JsonArray& applications,
                                                       const std::vector<std::string>& streamer_addons);
RegionLoad region_load(const JsonArray& nodes);
StreamInstance stream_instance(const Json& record);    // `session` is "" when no tag names one
std::string failure_of_operation(const Json& record);  // "" unless it failed; one that was cancelled did not
// Ids of the instances that an event is about; "" stands for all of them.
std::vector<std::string> instances_in_event(const Json& event);

}  // namespace svc

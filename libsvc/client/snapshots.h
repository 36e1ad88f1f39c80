#pragma once
// Snapshots of instances (API extensions instance_snapshots, snapshot_export). Each call blocks for one
// request, throws what the service answers, and may be made from one thread at a time for one ApiClient.
// Snapshots are named by id or name.
#include <functional>
#include <string_view>

#include "libsvc/client/api_client.h"

namespace svc {

JsonArray snapshots(ApiClient& client, std::string_view instance);  // records, oldest first
Json snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot);
// These answer the record of the operation that was started.
Json create_snapshot(ApiClient& client, std::string_view instance,
                     std::string_view name);  // name: "" is none
Json restore_snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot);
Json delete_snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot);
// The whole disk as an image package; `sink` gets it piece by piece, may throw, and what it throws passes.
void export_snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot,
                     std::function<void(std::string_view)> sink);

}  // namespace svc

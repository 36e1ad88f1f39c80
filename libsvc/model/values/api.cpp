#include "libsvc/model/values/api.h"

#include <array>

namespace svc {

namespace {

Json envelope(std::string_view type, std::string_view status, int status_code, std::string_view operation,
              const Json& metadata) {
    // A success always has operation, error_code and error; they are empty.
    return Json::object({{"type", type},
                         {"status", status},
                         {"status_code", status_code},
                         {"operation", operation},
                         {"error_code", 0},
                         {"error", ""},
                         {"metadata", metadata}});
}

}  // namespace

int http_status(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
        case ErrorCode::cancelled:
            return 400;
        case ErrorCode::unauthenticated:
            return 401;
        case ErrorCode::forbidden:
            return 403;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::conflict:
        case ErrorCode::busy:
            return 409;
        case ErrorCode::precondition_failed:
            return 412;
        case ErrorCode::exhausted:
        case ErrorCode::unavailable:
        case ErrorCode::internal:
            return 500;
    }
    return 500;
}

std::string sync_body(const Json& metadata) {
    return envelope("sync", "Success", 200, "", metadata).dump();
}

std::string sync_page_body(const Json& metadata, std::size_t total_size) {
    Json body = envelope("sync", "Success", 200, "", metadata);
    body.set("total_size", total_size);
    return body.dump();
}

std::string async_body(std::string_view operation_id, const Json& operation) {
    return envelope("async", "Operation created", 100, std::string("1.0/operations/").append(operation_id),
                    operation)
        .dump();
}

std::string error_body(int status, std::string_view message) {
    return Json::object({{"type", "error"},
                         {"error", message.empty() ? std::string_view("Failure") : message},
                         {"error_code", status},
                         {"metadata", Json::object()}})
        .dump();
}

const std::vector<std::string>& api_extensions() {
    static const std::vector<std::string> names{
        // Names of the specification:
        "application_watchdog_settings", "application_resource_customization",
        "application_services_configuration", "application_manifest_version", "application_gpu_encoder",
        "application_partial_updates", "application_image_export", "application_manifest_download",
        // Names that clients of the family know:
        "addon_restore_hook", "addon_backup_hook", "container_logs", "container_exec", "registry",
        "application_hooks", "zip_archive_support", "bulk_delete.applications", "bulk_delete.containers",
        "bulk_delete.instances", "metrics_api_endpoint",
        // Names of this service. docs/api-changes.md explains all of them.
        "operation_history", "operation_requestor", "node_runtime", "desired_status", "list_filters",
        "list_paging", "event_since", "join_tokens", "image_import", "application_commands",
        "application_notes", "openapi", "launch_resources", "instance_names", "instance_delete_protection",
        "instance_snapshots", "instance_files", "instance_forwards", "instance_pause", "node_evacuation",
        "snapshot_export", "android_guests", "instance_screenshots", "instance_recordings", "config_schema",
        "roles", "sessions", "audit", "oidc", "metrics_history", "instance_metrics", "instance_restart",
        "instance_expiry", "etag_lists", "application_pool", "application_export_compression"};
    return names;
}

}  // namespace svc

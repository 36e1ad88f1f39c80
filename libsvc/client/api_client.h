#pragma once
// The management service as a C++ object: methods for the calls of its REST API; nouns that came later have a
// file of functions over call() (snapshots.h).
//
// Records come back as the JSON the service sent (docs/api.yaml), so that fields of newer services are not
// lost. Calls that start background work answer the record of the operation; OperationWaiter follows it to
// its end.
#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/client/package.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/net/client/client.h"

namespace svc {

// Thread-safe. Every call blocks. Throws unavailable when the service cannot be reached, and the Error that
// the service answered, with its text (never as unavailable). An id may be a name where the API allows it.
class ApiClient {
  public:
    // `timeout`: of a pause without a byte moving, in calls without upload.
    explicit ApiClient(Target target, std::chrono::milliseconds timeout = std::chrono::seconds(60));
    const Target& target() const { return http_.target(); }

    Json server();                 // GET /1.0
    std::string server_version();  // GET /1.0/version

    // Certificates and configuration.
    JsonArray certificates();
    Json certificate(std::string_view fingerprint);
    // Makes the service trust a certificate (base64 of the DER). An admin needs neither password nor token.
    // `role`: "" is the highest one that the client may give.
    void add_certificate(std::string_view base64, std::string_view trust_password = "",
                         std::string_view role = "");
    void add_certificate_with_token(std::string_view base64, std::string_view join_token);
    Json delete_certificate(std::string_view fingerprint);
    Json create_join_token(std::string_view name, std::string_view expiry,  // expiry: "24h"
                           std::string_view role = "admin");
    JsonArray join_tokens();
    void delete_join_token(std::string_view id);
    Json config();  // the map of all items
    Json set_config(std::string_view name, std::string_view value);

    JsonArray addons();
    Json addon(std::string_view name);
    Json create_addon(std::string_view name, const Package& package);
    Json update_addon(std::string_view name, const Package& package);
    Json delete_addon(std::string_view name);
    Json delete_addon_version(std::string_view name, int version);

    JsonArray applications();
    Json application(std::string_view id_or_name);
    Json create_application(const Package& package);
    Json update_application(std::string_view id_or_name, const Package& package);
    Json patch_application(std::string_view id_or_name, const Json& fields);
    Json refresh_application(
        std::string_view id_or_name);  // makes a version with the newest image and addons
    Json delete_application(std::string_view id_or_name, bool force);
    Json delete_application_version(std::string_view id_or_name, int version, bool force);
    Json publish_application(std::string_view id_or_name, int version, bool published);
    std::string application_manifest(std::string_view id_or_name, std::optional<int> version = std::nullopt);
    // `compression`: gzip or zstd (extension application_export_compression); "": as the service does it.
    // Returns the SHA-256 that the service sent in the header; the caller compares it with the bytes that
    // arrived.
    std::string export_application(std::string_view id_or_name, int version, std::string_view compression,
                                   std::function<void(std::string_view)> sink);

    JsonArray registry_applications();
    Json push_application(std::string_view id_or_name);
    Json pull_application(std::string_view name);
    Json delete_registry_application(std::string_view name);

    JsonArray images();
    Json synchronise_image(std::string_view id_or_name);  // with the image server
    Json import_image(const Json& request);               // from the image server: name, path, default
    Json image(std::string_view id_or_name);
    Json default_image();  // null: there is none
    Json create_image(const ImageRequest& request, const Package& package);
    Json update_image(std::string_view id_or_name, const ImageRequest& request, const Package& package);
    Json patch_image(std::string_view id_or_name, const ImagePatch& patch);
    Json delete_image(std::string_view id_or_name, bool force);
    Json delete_image_version(std::string_view id_or_name, int version);

    JsonArray instances();
    JsonArray instances_tagged(std::string_view tag);
    Json instance(std::string_view id);
    Json launch(const Json& payload);  // specification: Launch payload
    // `desired_status`: "running", "paused", "stopped", "restarted".
    Json set_instance_status(std::string_view id, std::string_view desired_status);
    Json protect_instance(std::string_view id, bool wanted);        // from deletion
    Json extend_instance(std::string_view id, const Json& limits);  // expires_after, idle_after
    void note_uses(const std::vector<std::string>& instances);      // that are used now; at most 1000
    Json delete_instance(std::string_view id, bool force);
    std::vector<std::string> instance_logs(std::string_view id);  // names of stored logs
    void read_instance_log(std::string_view id, std::string_view name,
                           std::function<void(std::string_view)> sink);
    Json exec(std::string_view id, const ExecRequest& request);  // RemoteExec does this and the rest

    JsonArray operations();
    Json operation(std::string_view id);
    void cancel_operation(std::string_view id);
    // Returns the record when it is final, or after the timeout.
    Json wait_operation(std::string_view id, std::chrono::seconds timeout);

    JsonArray nodes();
    Json node(std::string_view name);
    Json create_node(const Json& request);  // specification: Worker nodes
    Json patch_node(std::string_view name, const Json& fields);
    Json evacuate_node(std::string_view name, std::string_view mode);  // "stop", "delete", "relaunch"
    Json delete_node(std::string_view name, bool force, bool keep_in_cluster);
    JsonArray tasks();

    // Any other route: what the body of the answer says as `metadata`.
    Json call(Method method, const std::string& path, const Json* body = nullptr);
    // A GET of any other route that answers with bytes: they go to `sink`, piece by piece. Returns the value
    // of the header ("" where there is none).
    std::string download(const std::string& path, std::string_view header,
                         std::function<void(std::string_view)> sink);

  private:
    Json send(const ClientRequest& request);
    Json upload(Method method, const std::string& path, const std::string& request, const Package& package);

    HttpClient http_;
    std::chrono::milliseconds timeout_;
};

// Functions of the records of operations.
bool operation_is_final(const Json& operation);
void require_success(const Json& operation);  // throws the operation's `err`; `cancelled` when it was
// Id of the object an operation is about: last part of its first resource of one of the `kinds` ("images",
// ...).
std::string resource_id(const Json& operation, std::initializer_list<std::string_view> kinds);

}  // namespace svc

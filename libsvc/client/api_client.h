#pragma once
// The management service as a C++ object: one method per call of its REST API.
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
#include "libsvc/model/image.h"
#include "libsvc/model/instance.h"
#include "libsvc/net/client.h"

namespace svc {

// Thread-safe. Every call blocks and throws: `unavailable` when the service cannot be reached, else what the
// service answered, with its own text (never `unavailable`). Ids may be names where the API allows it.
class ApiClient {
  public:
    explicit ApiClient(Target target);
    const Target& target() const { return http_.target(); }

    Json server();                 // GET /1.0
    std::string server_version();  // GET /1.0/version
    // Makes the service trust this client's certificate (base64 of the DER).
    void add_certificate(std::string_view base64, std::string_view trust_password);

    JsonArray images();
    Json image(std::string_view id_or_name);
    Json default_image();  // null: there is none
    Json create_image(const ImageRequest& request, const Package& package);
    Json update_image(std::string_view id_or_name, const ImageRequest& request, const Package& package);
    Json patch_image(std::string_view id_or_name, const ImagePatch& patch);
    Json delete_image(std::string_view id_or_name, bool force);
    Json delete_image_version(std::string_view id_or_name, int version);

    JsonArray instances();
    Json instance(std::string_view id);
    Json launch(const Json& payload);  // specification: Launch payload
    Json set_instance_status(std::string_view id, std::string_view desired_status);  // "running", "stopped"
    Json delete_instance(std::string_view id, bool force);
    std::vector<std::string> instance_logs(std::string_view id);  // names of stored logs
    void read_instance_log(std::string_view id, std::string_view name,
                           std::function<void(std::string_view)> sink);
    Json exec(std::string_view id, const ExecRequest& request);  // RemoteExec does this and the rest

    JsonArray operations();
    Json operation(std::string_view id);
    void cancel_operation(std::string_view id);
    // The record when it is final or the time is over, whichever comes first.
    Json wait_operation(std::string_view id, std::chrono::seconds timeout);

    JsonArray nodes();
    Json node(std::string_view name);
    JsonArray tasks();

  private:
    Json call(Method method, const std::string& path, const Json* body = nullptr);
    Json send(const ClientRequest& request);
    Json upload(Method method, const std::string& path, const ImageRequest& request, const Package& package);

    HttpClient http_;
};

// Of operation records.
bool operation_is_final(const Json& operation);
void require_success(const Json& operation);  // throws the operation's `err`; `cancelled` when it was
// Id of the object an operation is about: last part of its first resource of one of the `kinds` ("images",
// ...).
std::string resource_id(const Json& operation, std::initializer_list<std::string_view> kinds);

}  // namespace svc

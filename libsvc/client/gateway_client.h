#pragma once
// The stream gateway as a C++ object: one method per call of its REST API.
//
// Records come back as the JSON the gateway sent, so that fields of newer gateways are not lost.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/net/client/client.h"

namespace svc {

struct SessionRemoval {
    bool force = false;  // forget the session even if its region does not answer
    bool wait = true;    // return when the instance is gone
};

// Thread-safe. Every call blocks. Throws unavailable when the gateway cannot be reached, and the Error that
// it answered, with its text (never as unavailable).
class GatewayClient {
  public:
    // `token` of an account; "" on the gateway's local socket, which needs none.
    explicit GatewayClient(Target target, std::string token = "");
    const Target& target() const { return http_.target(); }

    Json status();

    // On the local socket alone.
    JsonArray accounts();
    // The record has the `token`, this one time. With the token of an administrator, the sessions of all
    // accounts are seen.
    Json create_account(std::string_view name, std::string_view expiry = "", bool admin = false);
    void delete_account(std::string_view name);

    JsonArray sessions(std::string_view status = "");  // "": of any
    Json session(std::string_view id);
    Json create_session(const Json& request);
    Json join_session(std::string_view id, const Json& request);
    void delete_session(std::string_view id, SessionRemoval how);
    // {"deleted_sessions": [ids], "errors": [{session_id, error_message, status_code}]}. Throws when all
    // failed for one reason.
    Json delete_sessions(const std::vector<std::string>& ids, SessionRemoval how);

    JsonArray regions();
    JsonArray applications();

  private:
    Json call(Method method, std::string path, const Json* body = nullptr, bool patient = false);

    HttpClient http_;
    std::string token_;
};

}  // namespace svc

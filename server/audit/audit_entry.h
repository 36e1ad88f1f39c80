#pragma once
// What the audit tells of a request and of its reply (docs/trust.md).
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"
#include "server/login/authenticate.h"

namespace svc::server {

// What is known before the request is answered.
struct AuditEntry {
    std::string who, requestor, role, address, method, path, request_id;
    std::string client;  // by which its refusals are counted; "": a stranger's, counted by address
    bool admin = false;
    bool passed_on = false;  // by another manager, which has written the line
    bool changes = true;     // false: only its refusal is told
};

bool is_audited(const Request& request);
AuditEntry audit_entry(const Request& request, const Authenticator& authenticator);

// What a refused client was told; "" of other replies.
std::string audited_error(const Response& response);

// Of what the service has done by itself.
Json audit_record_of_service(std::string_view requestor, std::string_view method, const std::string& path,
                             const std::string& operation, Time now);

// The whole entry. `opened`: the session that a login has opened, whose user the entry names; null: none.
Json audit_record(const AuditEntry& entry, const Response& response, const BrowserSession* opened, Time now);

}  // namespace svc::server

#pragma once
// Who the client of a forwarded request is, as headers between managers.
#include "libsvc/net/http/request.h"

namespace svc::server {

// All headers that managers tell each other begin with it; they are taken out of what clients send.
inline constexpr std::string_view between_managers = "Svc-";
inline constexpr std::string_view client_host_header = "Svc-Client-Host";  // where the client asked
inline constexpr std::string_view revision_header = "Svc-Revision";        // of the answer to a change
inline constexpr std::string_view not_leader_header = "Svc-Not-Leader";    // nothing was done

bool is_between_managers(std::string_view header_name);

// The certificate goes along whole: the leader asks anew whether it is trusted.
void add_client(Headers& headers, const Peer& client, std::string_view manager);
// Null where the request is no forwarded one. Throws invalid_argument for headers that add_client() does not
// make.
std::shared_ptr<const Peer> forwarded_client(const Request& request);

}  // namespace svc::server

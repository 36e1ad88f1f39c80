#include "instance-agent/agent/service/service_calls.h"

#include <optional>
#include <utility>

#include "libsvc/base/error.h"

namespace svc::agent {

std::vector<Target> service_targets(const AgentSession& session) {
    std::vector<Target> all;
    if (!session.service_socket.empty()) all.push_back(Target::parse("unix://" + session.service_socket));
    for (const auto& url : session.service_urls) {
        Target& target = all.emplace_back(Target::parse(url));
        target.server_fingerprint = session.service_fingerprint;
        const auto found = session.service_addresses.find(target.host);
        if (found == session.service_addresses.end()) continue;
        target.server_name = std::exchange(target.host, found->second);
    }
    return all;
}

ClientReply call_any(const AgentSession& session, const Call& call,
                     const std::function<ClientRequest()>& make_request) {
    std::optional<Error> last;
    for (const auto& target : service_targets(session)) try {
            return call(target, make_request());
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            last = e;
        }
    throw last.value_or(Error(ErrorCode::unavailable, "session names no service"));
}

ClientRequest authorised_request(const AgentSession& session, Method method, std::string path) {
    ClientRequest request;
    request.method = method;
    request.path = std::move(path);
    request.headers.add("Authorization", "bearer " + session.token);
    return request;
}

}  // namespace svc::agent

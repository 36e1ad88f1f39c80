#include "instance-agent/agent/ctl/agent_client.h"

#include "libsvc/base/error.h"
#include "libsvc/net/client/direct_call.h"

namespace svc::agent {
namespace {

std::optional<Json> read_envelope(const std::string& body) {
    try {
        Json envelope = Json::parse(body);
        if (envelope.is_object()) return envelope;
    } catch (const Error&) {
        // Plain text, for example metrics.
    }
    return std::nullopt;
}

[[noreturn]] void throw_refused(const std::optional<Json>& envelope, int status) {
    const Json* error = envelope ? envelope->find("error") : nullptr;
    if (error != nullptr && error->is_string())
        throw Error(status == 500 ? ErrorCode::internal : ErrorCode::invalid_argument, error->as_string());
    throw Error(ErrorCode::internal, "the agent answers with status " + std::to_string(status));
}

}  // namespace

AgentClient::Answer AgentClient::ask_anything(Method method, const std::string& path,
                                              const std::string& body) const {
    Target target;
    target.unix_path = socket_;
    ClientRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    const ClientReply reply = call_directly(target, request);
    const auto envelope = read_envelope(reply.body);
    if (reply.status < 200 || reply.status > 299) throw_refused(envelope, reply.status);
    if (!envelope) return {nullptr, reply.body};
    const Json* metadata = envelope->find("metadata");
    return {metadata == nullptr ? Json() : *metadata, ""};
}

Json AgentClient::ask(Method method, const std::string& path, const std::string& body) const {
    return ask_anything(method, path, body).metadata;
}

}  // namespace svc::agent

#include "libsvc/remote/remote_http.h"

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/direct_call.h"

namespace svc {

namespace {

constexpr std::chrono::seconds silence_limit{10};  // a stopping daemon waits no longer
constexpr std::size_t max_error_bytes = 64U << 10;

ErrorCode code_of_status(int status) {
    if (status == 401 || status == 403 || status == 407) return ErrorCode::forbidden;
    if (status == 404) return ErrorCode::not_found;
    if (status == 409) return ErrorCode::conflict;
    if (status >= 400 && status < 500) return ErrorCode::invalid_argument;
    return ErrorCode::unavailable;
}

// The text of an error envelope, or nothing.
std::string error_text(const std::string& body) {
    try {
        return JsonFields(Json::parse(body)).string("error").value_or("");
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

RemoteHttp::RemoteHttp(std::string what, Target target, std::string authorization)
    : what_(std::move(what)), target_(std::move(target)), authorization_(std::move(authorization)) {}

ClientReply RemoteHttp::call(ClientRequest request) const {
    if (!request.source) request.timeout = silence_limit;
    if (request.sink) request.max_reply = max_error_bytes;
    if (!authorization_.empty()) request.headers.set("Authorization", authorization_);
    ClientReply reply = reach(request);
    if (reply.status < 200 || reply.status > 299) refuse(reply);
    return reply;
}

// Adds the name of the server to errors of the connection. Exceptions of sinks and sources pass through as
// they are.
ClientReply RemoteHttp::reach(const ClientRequest& request) const {
    std::exception_ptr own;
    ClientRequest guarded = request;
    const auto guard = [&own](auto&& work) {
        try {
            return work();
        } catch (...) {
            own = std::current_exception();
            throw;
        }
    };
    if (request.sink) guarded.sink = [&](std::string_view data) { guard([&] { request.sink(data); }); };
    if (request.source)
        guarded.source = [&](std::size_t most) { return guard([&] { return request.source(most); }); };
    try {
        return call_directly(target_, guarded);
    } catch (const Error& e) {
        if (own || e.code() != ErrorCode::unavailable) throw;
        std::string_view why = e.what();
        constexpr std::string_view prefix = "cannot reach ";
        if (why.starts_with(prefix)) why.remove_prefix(prefix.size());
        throw Error(ErrorCode::unavailable, what_ + " cannot be reached: " + std::string(why));
    }
}

void RemoteHttp::refuse(const ClientReply& reply) const {
    const std::string text = error_text(reply.body);
    std::string message = what_ + " answers with status " + std::to_string(reply.status);
    if (reply.status >= 300 && reply.status < 400) message += ", redirects are not followed";
    if (!text.empty()) message += ": " + quoted(text);
    throw Error(code_of_status(reply.status), message);
}

std::string RemoteHttp::get(const std::string& path, std::size_t max_bytes) const {
    std::string body;
    get(path, [&](std::string_view piece) {
        if (piece.size() > max_bytes - body.size())
            throw Error(ErrorCode::invalid_argument,
                        what_ + " answers with more than " + std::to_string(max_bytes) + " bytes");
        body.append(piece);
    });
    return body;
}

ClientReply RemoteHttp::get(const std::string& path,
                            const std::function<void(std::string_view)>& write) const {
    ClientRequest request;
    request.path = path;
    request.sink = write;
    return call(std::move(request));
}

}  // namespace svc

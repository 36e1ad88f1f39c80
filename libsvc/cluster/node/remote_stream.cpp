#include "libsvc/cluster/node/remote_stream.h"

#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/net/http/response.h"

namespace svc::node {

namespace {

constexpr std::chrono::minutes longest_pause{1};
constexpr std::size_t most_of_error = std::size_t{1} << 20;

}  // namespace

Error refusal_of(int status, const std::string& body) {
    try {
        return error_from_json(Json::parse(body));
    } catch (const Error&) {  // not of a node: something else listens there
        return {error_code_of_status(status), "node answers with HTTP status " + std::to_string(status)};
    }
}

RemoteStream::RemoteStream(Target target, const ClientRequest& request) : call_(std::move(target), request) {
    if (call_.status() != 200) throw refusal_of(call_.status(), rest());
}

std::string RemoteStream::format() const {
    return call_.header(format_header);
}

std::string RemoteStream::rest() {
    std::string all;
    for (std::string piece = next(); !piece.empty() && all.size() < most_of_error; piece = next())
        all += piece;
    return all;
}

// "" at the end, which the reply must have told: a connection that breaks is no end.
std::string RemoteStream::next() {
    if (ended_) return {};
    try {
        auto piece = call_.read(longest_pause);
        if (!piece) throw Error(ErrorCode::unavailable, "node sends nothing any more");
        return *std::move(piece);
    } catch (const Error&) {
        ended_ = call_.complete();
        if (ended_) return {};
        throw;
    }
}

std::string RemoteStream::read(std::size_t at_most) {
    if (piece_.empty()) piece_ = next();
    std::string read = piece_.substr(0, at_most);
    piece_.erase(0, read.size());
    return read;
}

}  // namespace svc::node

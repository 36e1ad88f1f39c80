#include "libsvc/cluster/blob_peers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/cluster/blob_routes.h"
#include "libsvc/net/client/direct_call.h"

namespace svc {

namespace {

ClientRequest blob_request(Method method, std::string_view digest, std::chrono::milliseconds timeout) {
    ClientRequest request;
    request.method = method;
    request.path = std::string(peer_blobs_path).append("/").append(digest);
    request.timeout = timeout;
    return request;
}

std::string reason_of(const ClientReply& reply) {
    try {
        return Json::parse(reply.body).at("error").as_string();
    } catch (const Error&) {
        return "status " + std::to_string(reply.status);
    }
}

void require_done(const Manager& manager, const ClientReply& reply) {
    if (reply.status < 200 || reply.status >= 300)
        throw Error(error_code_of_status(reply.status), "manager " + manager.name + ": " + reason_of(reply));
}

std::uint64_t size_of_open(const FileDescriptor& file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw system_error("cannot read a package", errno);
    return static_cast<std::uint64_t>(status.st_size);
}

std::string read_piece(const FileDescriptor& file, std::size_t at_most) {
    std::string piece(at_most, '\0');
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0) throw system_error("cannot read a package", errno);
    piece.resize(static_cast<std::size_t>(got));
    return piece;
}

}  // namespace

ClientReply BlobPeers::call(const Manager& manager, const ClientRequest& request) const {
    try {
        return call_directly(peer_target(identity_, manager.address), request);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        throw Error(ErrorCode::unavailable, "manager " + manager.name + ": " + e.what());
    }
}

std::vector<BlobInfo> BlobPeers::list(const Manager& manager) const {
    ClientRequest request;
    request.path = peer_blobs_path;
    request.timeout = answer_;
    const ClientReply reply = call(manager, request);
    require_done(manager, reply);
    const Json listed = Json::parse(reply.body);
    std::vector<BlobInfo> blobs;
    for (const Json& blob : listed.as_array()) {
        const JsonFields fields(blob);
        blobs.push_back(
            {fields.require_string("digest"), static_cast<std::uint64_t>(fields.require_int("size"))});
    }
    return blobs;
}

std::optional<std::uint64_t> BlobPeers::size(const Manager& manager, std::string_view digest) const {
    const ClientReply reply = call(manager, blob_request(Method::head, digest, answer_));
    if (reply.status == 404) return std::nullopt;
    require_done(manager, reply);
    return std::stoull("0" + reply.headers.get("Content-Length"));
}

void BlobPeers::fetch(const Manager& manager, std::string_view digest, std::uint64_t offset,
                      const std::function<void(std::string_view)>& take) const {
    ClientRequest request = blob_request(Method::get, digest, pause_);
    request.path += "?from=" + std::to_string(offset);
    request.sink = take;
    require_done(manager, call(manager, request));
}

void BlobPeers::push(const Manager& manager, std::string_view digest,
                     const std::filesystem::path& path) const {
    const FileDescriptor file = open_file(path, O_RDONLY);
    ClientRequest request = blob_request(Method::put, digest, pause_);
    request.source = [&](std::size_t at_most) { return read_piece(file, at_most); };
    request.length = size_of_open(file);
    require_done(manager, call(manager, request));
}

void BlobPeers::remove(const Manager& manager, std::string_view digest, std::uint64_t term) const {
    ClientRequest request = blob_request(Method::delete_, digest, answer_);
    request.headers.set(term_header, std::to_string(term));
    require_done(manager, call(manager, request));
}

}  // namespace svc

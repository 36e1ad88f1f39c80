#include "server/http/upload.h"

#include "libsvc/base/error.h"
#include "server/http/query.h"

namespace svc::server {

namespace {

[[noreturn]] void throw_wrong_type() {
    throw Error(ErrorCode::invalid_argument,
                "argument Content-Type is invalid: must be application/octet-stream");
}

}  // namespace

std::shared_ptr<BodySink> open_package_upload(BlobStore& blobs, const Request& request) {
    fingerprint_header(request);  // a malformed one is refused before the body is sent
    return std::make_shared<PackageUpload>(blobs.create(request.content_length.value_or(0)));
}

void check_json_type(const Request& request) {
    if (!has_content_type(request, "application/json") && !has_content_type(request, "")) throw_wrong_type();
}

void check_request_header(const Request& request) {
    const std::string text = request.headers.get("X-SVC-Request");
    if (!text.empty()) with_context("X-SVC-Request", [&] { JsonFields{Json::parse(text)}; });
}

UploadedPackage take_package(const Request& request) {
    auto* upload = dynamic_cast<PackageUpload*>(request.upload.get());
    if (!upload) throw_wrong_type();
    return upload->take();
}

}  // namespace svc::server

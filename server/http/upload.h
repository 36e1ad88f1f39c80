#pragma once
// Receives an uploaded package into the blob store.
#include <memory>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/net/http/request.h"
#include "libsvc/services/common/content.h"

namespace svc::server {

// The sink for the body of an upload. One thread at a time. Without take() its destructor removes the file.
class PackageUpload final : public BodySink {
  public:
    explicit PackageUpload(std::unique_ptr<BlobWriter> blob) : blob_(std::move(blob)) {}
    void write(std::string_view data) override { blob_->write(data); }
    void finish() override { info_ = blob_->finish(); }
    UploadedPackage take() { return {std::move(blob_), std::move(info_)}; }

  private:
    std::unique_ptr<BlobWriter> blob_;
    BlobInfo info_;
};

// Checks the fingerprint header of an upload and that there is room for it. Throws invalid_argument,
// exhausted.
std::shared_ptr<BodySink> open_package_upload(BlobStore& blobs, const Request& request);
// X-SVC-Request of an upload that needs nothing in it: absent, empty or any JSON object.
void check_request_header(const Request& request);
// For routes that mean an upload when there is no JSON: a body of another type is neither.
void check_json_type(const Request& request);
// The package of a finished upload. Throws invalid_argument when the request brought none.
UploadedPackage take_package(const Request& request);

}  // namespace svc::server
